// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/random_programs/dialects.hpp"
#include "tests/support/random_programs/laws.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/random_programs/results.hpp"
#include "tests/support/random_programs/running.hpp"
#include "tests/support/random_programs/world.hpp"

/// Random trees of tasks, in scopes, with handles, waited for together or one of several.

BACKENDS_TEST_CASE("a tree of tasks has the result of a sequential evaluation", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>,
                   on_stealing<3>) {
  int failed = 0;
  auto const some = seeds::as_many_as(rounds(400));
  check_law(some, dialect_of_results(), [&](program_of_acts const& p, unsigned) -> std::string {
    std::optional<int> const expected = value_of(p.all.at(0).acts);
    failed += !expected;
    shared_world w(p);
    bool has_failed = false;
    try {
      run_on(chosen, options(), w);
    } catch (std::exception const& e) {
      has_failed = true;
      if (!is_failure(std::current_exception())) return e.what();
    }
    if (w.alive != 0 || w.wrong != 0) return "something is alive, or another exception was caught";
    if (has_failed != !expected) return expected ? "fails" : "does not fail";
    if (has_failed || w.result_of_all == *expected) return "";
    return "gives " + std::to_string(w.result_of_all) + ", not " + std::to_string(*expected);
  });
  if (!some.only_some()) CHECK(failed > 0);
}
