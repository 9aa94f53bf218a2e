// SPDX-License-Identifier: MIT

/// Mistake: a computation without `co_await`

#include <iostream>

#include <weft/effects/effects.hpp>

using namespace weft;

eff<void, console> greets() { co_await console::print_line("hello"); }
eff<void, console> greets_twice() {
  greets();
  co_await greets();
}
int main() { run(handle(console_to_stream(std::cout), greets_twice)); }
