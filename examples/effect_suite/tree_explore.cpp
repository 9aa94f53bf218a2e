// SPDX-License-Identifier: MIT
#include "examples/effect_suite/tree_explore.hpp"

#include "examples/effect_suite/answer.hpp"

int main(int argc, char** argv) {
  effect_suite::print_answer(argc, argv, 5, effect_suite::tree_explore::program<weft::bitwise>);
}
