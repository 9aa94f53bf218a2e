// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include <weft/effects/effects.hpp>

/// The sum of all values in a tree, which a generator emits one by one.
///
/// The tree is complete and of height n; a node at height h has the value h.  It takes n nodes, for
/// both children of a node are the same tree.  `walk` goes depth first, and performs emit::value
/// for each node, from up to n calls deep.
///
/// Kinds of clause: a control clause that keeps nothing and resumes nothing.  It answers with a
/// step: the value, and the resumption of the walk.  The loop in `program`, ordinary code, adds the
/// value, and resumes for the next step.
///
/// It measures moving a continuation out of its handler, as a value, and resuming it from outside,
/// once for each of the 2^n - 1 nodes; and two calls a node.
namespace effect_suite::generator {

using integer = std::uint64_t;

struct node {
  node const* left;  // null: an empty tree
  integer value;
  node const* right;
};

/// The nodes of the tree; the last one is the root.
inline std::deque<node> make_tree(int height) {
  std::deque<node> nodes;
  node const* below = nullptr;
  for (int h = 1; h <= height; ++h)
    below = &nodes.emplace_back(node{below, static_cast<integer>(h), below});
  return nodes;
}

using yielding = weft::emit<integer>;

inline weft::eff<void, yielding> walk(node const* tree) {
  if (!tree) co_return;
  co_await walk(tree->left);
  co_await yielding::value{tree->value};
  co_await walk(tree->right);
}

/// A value and the continuation of the walk; an empty resumption is the end.
///
/// Two words, each moved by itself.  The parts of an optional value would be written one by one and
/// read at once, which stalls the processor: 2 to 3 ns a step.
struct step {
  integer value = 0;
  weft::resumption<void, step> rest;
};

struct stepwise : weft::handler<yielding> {
  step on(yielding::value v, weft::resumption<void, step> k) { return {v.it, std::move(k)}; }
  step on_return() { return {}; }
};

inline integer program(int n) {
  auto const nodes = make_tree(n);
  node const* const root = nodes.empty() ? nullptr : &nodes.back();
  integer sum = 0;
  step s = weft::run(weft::handle(stepwise(), walk(root)));
  while (s.rest) {
    sum += s.value;
    s = resume(std::move(s.rest));
  }
  return sum;
}

}  // namespace effect_suite::generator
