// SPDX-License-Identifier: MIT
#pragma once

#include <iostream>
#include <string>

#include "effects/effects.hpp"
#include "examples/backend.hpp"

namespace effect_suite {

/// Prints what `program(n)` comes to.  How large the problem is, is the example's argument,
/// `otherwise` if there is none.  The program is ordinary code, with handlers of its own, and what
/// is scheduled is one process that calls it.
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
