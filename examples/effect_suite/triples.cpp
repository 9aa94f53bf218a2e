// SPDX-License-Identifier: MIT
#include "examples/effect_suite/triples.hpp"

#include "examples/effect_suite/answer.hpp"

int main(int argc, char** argv) {
  effect_suite::print_answer(argc, argv, 10, effect_suite::triples::program<weft::bitwise>);
}
