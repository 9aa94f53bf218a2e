// SPDX-License-Identifier: MIT
#include "examples/effect_suite/triples.hpp"

#include <iostream>

#include "examples/effect_suite/argument.hpp"

int main(int argc, char** argv) {
  auto const n = effect_suite::argument(argc, argv, 10);
  std::cout << effect_suite::triples::program<weft::bitwise>(n) << '\n';
}
