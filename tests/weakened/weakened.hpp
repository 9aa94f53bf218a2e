// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdlib>
#include <utility>

/// Common parts of the programs here.
namespace weft::tests {

/// The given order, or relaxed if its label is the weakened one.
template <int Weakened, int Label>
constexpr std::memory_order unless_weakened(std::memory_order right) noexcept {
  return Weakened == Label ? std::memory_order_relaxed : right;
}

/// A main: calls `run.operator()<n>()`, where n is the argument, from 0 to `Labels`.
template <int Labels, class Run>
int run_weakened(int argc, char** argv, Run run) {
  int const which = argc > 1 ? std::atoi(argv[1]) : -1;
  int result = 2;
  [&]<int... Ns>(std::integer_sequence<int, Ns...>) {
    (void)((which == Ns && (result = run.template operator()<Ns>(), true)) || ...);
  }(std::make_integer_sequence<int, Labels + 1>());
  return result;
}

/// The label of the weakened order, where orders are no parameters: the source that weaken.py makes
/// reads it.  Written before threads start.
inline int weakened_order = 0;

}  // namespace weft::tests
