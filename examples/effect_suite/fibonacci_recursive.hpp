// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <weft/effects/effects.hpp>

/// The n-th Fibonacci number, by the recursion that defines it.
///
/// It performs nothing and handles nothing.  It measures the price of the possibility: a call of an
/// `eff` creates a frame, so that the callee can be suspended.  A function without effects need not
/// be an `eff`; `plainly` is the plain version, which an `eff` can call.
namespace effect_suite::fibonacci_recursive {

using weft::eff;

inline eff<std::int64_t> fibonacci(int n) {
  if (n < 2) co_return n;
  std::int64_t const a = co_await fibonacci(n - 1);
  std::int64_t const b = co_await fibonacci(n - 2);
  co_return a + b;
}

inline std::int64_t program(int n) { return run(fibonacci(n)); }

/// The same without effects.
inline std::int64_t plainly(int n) { return n < 2 ? n : plainly(n - 1) + plainly(n - 2); }

}  // namespace effect_suite::fibonacci_recursive
