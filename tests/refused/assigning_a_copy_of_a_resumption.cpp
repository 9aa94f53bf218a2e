// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

struct parking {
  weft::resumption<void> parked;
  void park(weft::resumption<void> const& k) { parked = k; }
};

int main() { parking().park({}); }
