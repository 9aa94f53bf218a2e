// SPDX-License-Identifier: MIT

/// Mistake: an operation without `co_await`

#include <iostream>

#include <weft/effects/effects.hpp>

using namespace weft;

eff<void, console> greets() {
  console::print_line("hello");
  co_return;
}
int main() { run(handle(console_to_stream(std::cout), greets)); }
