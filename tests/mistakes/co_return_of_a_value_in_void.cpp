// SPDX-License-Identifier: MIT

/// Mistake: `co_return` of a value in an `eff<void>`
/// Own words: clang g++

#include <iostream>

#include <weft/effects/effects.hpp>

using namespace weft;

eff<void, console> greets() {
  co_await console::print_line("hello");
  co_return 1;
}
int main() { run(handle(console_to_stream(std::cout), greets)); }
