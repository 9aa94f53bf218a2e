// SPDX-License-Identifier: MIT

/// What do effects cost a whole program?  The programs of the effect handlers' common suite
/// (github.com/effect-handlers/effect-handlers-bench) on its inputs, in seconds.  The files in
/// examples/effect_suite say what each program does and measures; the files beside this one
/// describe each rival, and why it is fair.

#include "bench/effect_suite/rows.hpp"
#include "bench/harness.hpp"

int main(int argc, char** argv) {
  using namespace weft::bench;
  suite bench("effect_suite", argc, argv);
  for (auto* const add_rows : {
           effect_suite_countdown,
           effect_suite_fibonacci_recursive,
           effect_suite_generator,
           effect_suite_handler_sieve,
           effect_suite_iterator,
           effect_suite_nqueens,
           effect_suite_parsing_dollars,
           effect_suite_product_early,
           effect_suite_resume_nontail,
           effect_suite_scheduler,
           effect_suite_tree_explore,
           effect_suite_triples,
       })
    add_rows(bench);
  return bench.run();
}
