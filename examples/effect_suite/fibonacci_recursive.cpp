// SPDX-License-Identifier: MIT
#include "examples/effect_suite/fibonacci_recursive.hpp"

#include <iostream>

#include "examples/effect_suite/argument.hpp"

int main(int argc, char** argv) {
  int const n = effect_suite::argument(argc, argv, 5);
  std::cout << effect_suite::fibonacci_recursive::program(n) << '\n';
}
