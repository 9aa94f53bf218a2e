// SPDX-License-Identifier: MIT
#include "examples/effect_suite/nqueens.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bench/effect_suite/rows.hpp"
#include "bench/harness.hpp"

/// n queens, by a handler that resumes n times.
///
/// The rival is plain recursion over the same lists: a column is a call, which tries every row in a
/// loop.  It backtracks by returning, so it neither copies nor repeats work.
namespace {

namespace nqueens = effect_suite::nqueens;
using weft::bench::launder;

constexpr int input = 12;
constexpr std::uint64_t answer = 14200;

[[gnu::noinline]] std::uint64_t boards(int rows, int columns, nqueens::queens const* placed,
                                       nqueens::lists& in) {
  if (columns == 0) return 1;
  std::size_t const known = in.size();
  std::uint64_t found = 0;
  for (int row = 1; row <= rows; ++row) {
    if (!nqueens::is_safe(row, placed)) continue;
    found += boards(rows, columns - 1, in.cons(row, placed), in);
    in.back_to(known);
  }
  return found;
}
std::uint64_t plain() {
  nqueens::lists all;
  int const size = launder(input);
  return boards(size, size, nullptr, all);
}

template <class Policy>
void add_row(weft::bench::suite& bench, std::string_view name) {
  bench.compare_seconds(
      name, [] { return nqueens::program<Policy>(launder(input)); }, "plain", plain, answer);
}

}  // namespace

void weft::bench::effect_suite_nqueens(suite& bench) {
  add_row<replay>(bench, "nqueens/replay");
  add_row<bitwise>(bench, "nqueens/bitwise");
}
