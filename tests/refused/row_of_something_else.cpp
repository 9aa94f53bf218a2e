// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

weft::eff<void, weft::proc::yield> confused() { co_return; }

int main() { auto const e = confused(); }
