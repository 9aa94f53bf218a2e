// SPDX-License-Identifier: MIT
#include <memory>

#include "effects/effects.hpp"

weft::eff<std::unique_ptr<int>> owns(int* p) { co_return p; }

int main() { auto const e = owns(nullptr); }
