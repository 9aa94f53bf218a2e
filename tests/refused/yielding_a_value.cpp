// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a computation emits a value by an operation: co_await emit<T>::value{v}, not co_yield
/// Naming: co_yield

#include "weft/effects/effects.hpp"

weft::eff<void, weft::emit<int>> numbers() {
  for (int n = 0;; ++n) co_yield n;
}

int main() { auto const e = numbers(); }
