// SPDX-License-Identifier: MIT
#pragma once

#include <iostream>
#include <string>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>

namespace effect_suite {

/// Prints the result of `program(n)`.  The example's argument is n, the problem size, by default
/// `otherwise`.  The program is ordinary code, with handlers of its own; one process calls it.
template <class Program>
void print_answer(int argc, char** argv, int otherwise, Program program) {
  std::string const own = "[n], a whole number from 0; without it " + std::to_string(otherwise);
  examples::backend const backend(argc, argv, own);
  auto const text = backend.argument();
  int const n = text.empty() ? otherwise : backend.number(text);
  auto const process = [program, n]() -> weft::eff<void, weft::console> {
    std::string const answer = std::to_string(program(n));
    co_await weft::console::print_line(answer);
  };
  backend.schedule(process, weft::console_to_stream(std::cout));
}

}  // namespace effect_suite
