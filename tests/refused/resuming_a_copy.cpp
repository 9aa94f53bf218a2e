// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: a resumption is used once: write resume(std::move(k), v)
/// Naming: resumption<

#include "weft/effects/effects.hpp"

void wakes_twice(weft::resumption<void> k) {
  weft::resume(k);
  weft::resume(std::move(k));
}

int main() { wakes_twice({}); }
