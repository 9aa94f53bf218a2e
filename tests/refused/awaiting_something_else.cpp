// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

weft::eff<void> waits() { co_await 5; }

int main() { auto const e = waits(); }
