// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: a resumption is used once: std::move it, or take a multi_resumption
/// Naming: resumption<

#include "weft/effects/effects.hpp"

void wakes_twice(weft::resumption<void> k) {
  auto again = k;
  weft::resume(std::move(k));
  weft::resume(std::move(again));
}

int main() { wakes_twice({}); }
