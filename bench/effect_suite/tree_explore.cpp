// SPDX-License-Identifier: MIT
#include "examples/effect_suite/tree_explore.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/effect_suite/rows.hpp"
#include "bench/harness.hpp"

/// All paths through a tree, by a handler that resumes twice.
///
/// The rival is plain recursion: a node is a call, which returns the list of the values below it.
/// It walks both sides and appends, so it neither copies nor repeats work; and since the values of
/// many paths are at hand at once, the compiler vectorises.
namespace {

namespace tree_explore = effect_suite::tree_explore;
using weft::bench::launder;

constexpr int input = 16;
constexpr std::uint64_t answer = 1005;

[[gnu::noinline]] std::vector<int> values(tree_explore::tree const* t, int& variable) {
  using tree_explore::combine;
  if (!t) return {variable};
  variable = combine(variable, t->value);
  std::vector<int> all = values(t->left, variable);
  variable = combine(variable, t->value);
  std::vector<int> const right = values(t->right, variable);
  all.insert(all.end(), right.begin(), right.end());
  for (int& value : all) value = combine(t->value, value);
  return all;
}
std::uint64_t plain() {
  tree_explore::full_tree const tree(launder(input));
  int variable = 0;
  for (int i = 0; i != 10; ++i) variable = std::ranges::max(values(tree.root(), variable));
  return static_cast<std::uint64_t>(variable);
}

template <class Policy>
void add_row(weft::bench::suite& bench, std::string_view name) {
  bench.compare_seconds(
      name, [] { return tree_explore::program<Policy>(launder(input)); }, "plain", plain, answer);
}

}  // namespace

void weft::bench::effect_suite_tree_explore(suite& bench) {
  add_row<replay>(bench, "tree_explore/replay");
  add_row<bitwise>(bench, "tree_explore/bitwise");
}
