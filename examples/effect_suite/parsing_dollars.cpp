// SPDX-License-Identifier: MIT
#include "examples/effect_suite/parsing_dollars.hpp"

#include <iostream>

#include "examples/effect_suite/argument.hpp"

int main(int argc, char** argv) {
  int const n = effect_suite::argument(argc, argv, 10);
  std::cout << effect_suite::parsing_dollars::program(n) << '\n';
}
