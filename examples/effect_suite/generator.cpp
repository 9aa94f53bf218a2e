// SPDX-License-Identifier: MIT

#include "examples/effect_suite/generator.hpp"

#include <iostream>

#include "examples/effect_suite/argument.hpp"

int main(int argc, char** argv) {
  std::cout << effect_suite::generator::program(effect_suite::argument(argc, argv, 5)) << '\n';
}
