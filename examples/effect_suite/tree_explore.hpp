// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <weft/effects/effects.hpp>

/// Which path through a tree has the largest value?  Asked ten times.
///
/// The value of a path is computed from the numbers along it, and at its leaf from a variable.
/// Every path changes the variable on its way down, and starts with the value that the path before
/// has left.  The program walks down and chooses a side at each node; its handler resumes each
/// choice with both, the left one first, and appends the lists of their results.  The largest value
/// is then put into the variable, for the next time.
///
/// Kinds of clause: choose is a multi-shot coroutine; get and put are value clauses.  The variable
/// is handled outside of the choices, so all paths share it.  (Inside, each path would have its
/// own.) It measures resuming twice, at every depth of a program that also performs operations of a
/// handler further out.
///
/// The policy decides how a choice is resumed again.  The program keeps only numbers and pointers
/// across a choice, which may be copied byte by byte, so both policies work.
namespace effect_suite::tree_explore {

/// Null is a leaf.
struct tree {
  tree const* left;
  int value;
  tree const* right;
};

/// A full tree, whose values are the heights.  Both children of a node are the same tree.
class full_tree {
 public:
  explicit full_tree(int height) : nodes_(static_cast<std::size_t>(height)) {
    for (tree& node : nodes_) {
      node = {root_, root_ ? root_->value + 1 : 1, root_};
      root_ = &node;
    }
  }
  full_tree(full_tree const&) = delete;
  full_tree& operator=(full_tree const&) = delete;

  [[nodiscard]] tree const* root() const { return root_; }

 private:
  std::vector<tree> nodes_;
  tree const* root_ = nullptr;
};

inline int combine(int x, int y) { return std::abs(x - 503 * y + 37) % 1009; }

struct choice {
  /// Yields true for left.
  struct [[nodiscard]] choose : weft::op<bool> {};
  using operations = weft::op_list<choose>;
};
using variable = weft::state<int>;

/// The value of a path.
inline weft::eff<int, choice, variable> explore(tree const* t) {
  if (!t) co_return co_await variable::get{};
  bool const left = co_await choice::choose{};
  int const before = co_await variable::get{};
  co_await variable::put{combine(before, t->value)};
  int const below = co_await explore(left ? t->left : t->right);
  co_return combine(t->value, below);
}

/// Answers with the values of all paths.
struct all_paths : weft::handler<choice> {
  using values = std::vector<int>;

  weft::eff<values> on(choice::choose, weft::multi_resumption<bool, values> k) const {
    values all = co_await k(true);
    values const right = co_await k(false);
    all.insert(all.end(), right.begin(), right.end());
    co_return all;
  }
  values on_return(int value) const { return {value}; }
};

template <class Policy>
weft::eff<int, variable> explore_ten_times(tree const* t) {
  for (int i = 0; i != 10; ++i) {
    auto const path = [t] { return explore(t); };
    std::vector<int> const values = co_await weft::handle(all_paths(), path, Policy());
    co_await variable::put{std::ranges::max(values)};
  }
  co_return co_await variable::get{};
}

template <class Policy>
std::uint64_t program(int n) {
  full_tree const all(n);
  int const last =
      weft::run(weft::handle(weft::state_of(0), explore_ten_times<Policy>(all.root())));
  return static_cast<std::uint64_t>(last);
}

}  // namespace effect_suite::tree_explore
