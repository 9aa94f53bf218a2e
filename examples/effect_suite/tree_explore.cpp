// SPDX-License-Identifier: MIT
#include "examples/effect_suite/tree_explore.hpp"

#include <iostream>

#include "examples/effect_suite/argument.hpp"

int main(int argc, char** argv) {
  auto const n = effect_suite::argument(argc, argv, 5);
  std::cout << effect_suite::tree_explore::program<weft::bitwise>(n) << '\n';
}
