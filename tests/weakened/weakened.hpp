// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdlib>
#include <utility>

/// What the programs here share.
namespace weft::tests {

/// The order with that label, unless it is the one that is weakened.
template <int Weakened, int Label>
constexpr std::memory_order unless_weakened(std::memory_order right) noexcept {
  return Weakened == Label ? std::memory_order_relaxed : right;
}

/// A main: `run.operator()<n>()`, n being the argument, 0 to `Labels`.
template <int Labels, class Run>
int run_weakened(int argc, char** argv, Run run) {
  int const which = argc > 1 ? std::atoi(argv[1]) : -1;
  int result = 2;
  [&]<int... Ns>(std::integer_sequence<int, Ns...>) {
    (void)((which == Ns && (result = run.template operator()<Ns>(), true)) || ...);
  }(std::make_integer_sequence<int, Labels + 1>());
  return result;
}

/// The label of the order that is weakened, where orders are no parameters: weaken.py asks for it
/// there.  Written before there are threads.
inline int weakened_order = 0;

}  // namespace weft::tests
