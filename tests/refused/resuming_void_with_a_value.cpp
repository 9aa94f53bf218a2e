// SPDX-License-Identifier: MIT

/// Refused:
///   weft: an operation is resumed with a value of its result type, or raising{...}; one that is
///   answered with void, with nothing
/// Naming: bool

#include "weft/effects/effects.hpp"

void wakes(weft::resumption<void> k) { weft::resume(std::move(k), true); }

int main() { wakes({}); }
