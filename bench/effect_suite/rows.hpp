// SPDX-License-Identifier: MIT
#pragma once

#include "bench/harness.hpp"

/// The rows of `effect_suite`: one function for each of the suite's programs.
namespace weft::bench {

void effect_suite_countdown(suite&);
void effect_suite_fibonacci_recursive(suite&);
void effect_suite_generator(suite&);
void effect_suite_handler_sieve(suite&);
void effect_suite_iterator(suite&);
void effect_suite_nqueens(suite&);
void effect_suite_parsing_dollars(suite&);
void effect_suite_product_early(suite&);
void effect_suite_resume_nontail(suite&);
void effect_suite_scheduler(suite&);
void effect_suite_tree_explore(suite&);
void effect_suite_triples(suite&);

}  // namespace weft::bench
