// SPDX-License-Identifier: MIT
#include "examples/effect_suite/nqueens.hpp"

#include "examples/effect_suite/answer.hpp"

int main(int argc, char** argv) {
  effect_suite::print_answer(argc, argv, 5, effect_suite::nqueens::program<weft::bitwise>);
}
