// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

weft::eff<void> child() { co_return; }
weft::eff<void> waits() { co_await child; }

int main() { auto const e = waits(); }
