// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

weft::eff<int> one() { co_return 1; }

int main() { return weft::run(one); }
