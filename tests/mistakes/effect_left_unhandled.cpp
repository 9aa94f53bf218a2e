// SPDX-License-Identifier: MIT

/// Mistake: an effect without a handler

#include <weft/effects/effects.hpp>

using namespace weft;

eff<void, console> greets() { co_await console::print_line("hello"); }
int main() { run(greets()); }
