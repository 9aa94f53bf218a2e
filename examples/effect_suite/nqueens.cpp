// SPDX-License-Identifier: MIT
#include "examples/effect_suite/nqueens.hpp"

#include <iostream>

#include "examples/effect_suite/argument.hpp"

int main(int argc, char** argv) {
  auto const n = effect_suite::argument(argc, argv, 5);
  std::cout << effect_suite::nqueens::program<weft::bitwise>(n) << '\n';
}
