// SPDX-License-Identifier: MIT

/// Refused:
///   weft: co_return of a value that does not convert to the computation's type
/// Naming: unique_ptr<int>

#include <memory>

#include "weft/effects/effects.hpp"

weft::eff<std::unique_ptr<int>> owns(int* p) { co_return p; }

int main() { auto const e = owns(nullptr); }
