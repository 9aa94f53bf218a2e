// SPDX-License-Identifier: MIT
#include "examples/effect_suite/parsing_dollars.hpp"

#include "examples/effect_suite/answer.hpp"

int main(int argc, char** argv) {
  effect_suite::print_answer(argc, argv, 10, effect_suite::parsing_dollars::program);
}
