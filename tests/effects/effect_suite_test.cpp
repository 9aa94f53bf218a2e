// SPDX-License-Identifier: MIT
#include "examples/effect_suite/countdown.hpp"
#include "examples/effect_suite/fibonacci_recursive.hpp"
#include "examples/effect_suite/generator.hpp"
#include "examples/effect_suite/handler_sieve.hpp"
#include "examples/effect_suite/iterator.hpp"
#include "examples/effect_suite/nqueens.hpp"
#include "examples/effect_suite/parsing_dollars.hpp"
#include "examples/effect_suite/product_early.hpp"
#include "examples/effect_suite/resume_nontail.hpp"
#include "examples/effect_suite/scheduler.hpp"
#include "examples/effect_suite/tree_explore.hpp"
#include "examples/effect_suite/triples.hpp"
#include "tests/prelude.hpp"

using namespace effect_suite;

/// The answer of a program.  Checks that all its frames and prompts are destroyed.
template <class Answer>
std::int64_t answer(Answer (*program)(int), int n) {
  weft::tests::every_frame_dies const check;
  return static_cast<std::int64_t>(program(n));
}

TEST_CASE("the programs of the effect suite give the right answers to its test inputs") {
  CHECK(answer(countdown::program, 5) == 0);
  CHECK(answer(fibonacci_recursive::program, 5) == 5);
  CHECK(answer(generator::program, 5) == 57);
  CHECK(answer(handler_sieve::program, 10) == 17);
  CHECK(answer(iterator::program, 5) == 15);
  CHECK(answer(parsing_dollars::program, 10) == 55);
  CHECK(answer(product_early::program, 5) == 0);
  CHECK(answer(resume_nontail::program, 5) == 37);
  CHECK(answer(effect_suite::scheduler::program, 10) == 10000);
}

TEMPLATE_TEST_CASE("the programs that resume twice give the right answers by either policy", "",
                   weft::replay, weft::bitwise) {
  CHECK(answer(nqueens::program<TestType>, 5) == 10);
  CHECK(answer(tree_explore::program<TestType>, 5) == 946);
  CHECK(answer(triples::program<TestType>, 10) == 779312);
}
