// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

void wakes_twice(weft::resumption<void> k) {
  auto again = k;
  weft::resume(std::move(k));
  weft::resume(std::move(again));
}

int main() { wakes_twice({}); }
