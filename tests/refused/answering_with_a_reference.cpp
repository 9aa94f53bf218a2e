// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

struct shelf {
  struct look : weft::op<int&> {};
};

int main() { return sizeof(shelf::look) == 0 ? 1 : 0; }
