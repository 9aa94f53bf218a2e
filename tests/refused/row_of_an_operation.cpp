// SPDX-License-Identifier: MIT

/// Refused:
///   weft: this is an operation: name in its place the effect that lists it
/// Naming: weft::console::print_line

#include "weft/effects/effects.hpp"

weft::eff<void, weft::console::print_line> greets() { co_await weft::console::print_line("hello"); }

int main() { auto const e = greets(); }
