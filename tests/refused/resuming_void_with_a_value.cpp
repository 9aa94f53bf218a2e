// SPDX-License-Identifier: MIT
#include "effects/effects.hpp"

void wakes(weft::resumption<void> k) { weft::resume(std::move(k), true); }

int main() { wakes({}); }
