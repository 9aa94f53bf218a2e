// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

void wakes_twice(weft::resumption<void> k) {
  weft::resume(k);
  weft::resume(std::move(k));
}

int main() { wakes_twice({}); }
