// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

weft::eff<void, weft::proc> child() { co_return; }
weft::eff<void, weft::proc> parent() { co_await weft::fork(child(), child()); }

int main() { auto const e = parent(); }
