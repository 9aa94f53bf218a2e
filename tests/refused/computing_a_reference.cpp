// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

int main() {
  weft::eff<int&>* e = nullptr;
  delete e;
}
