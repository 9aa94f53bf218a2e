// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/dialects.hpp"
#include "tests/support/random_programs/laws.hpp"
#include "tests/support/random_programs/running.hpp"

/// Random programs that sleep, and wait with a deadline for one another and for external events.

BACKENDS_TEST_CASE(
    "every process that waits with a deadline continues, or is unwound when one fails", "",
    on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>, on_sharing<8>,
    on_stealing<3>) {
  for (bool const is_virtual : {false, true}) {
    auto how = options();
    how.virtual_time = is_virtual;
    auto const some = seeds::as_many_as(rounds(chosen.threads == 1 ? 500 : 200));
    check_law(some, dialect_of_deadlines(), [&](program_of_acts const& p, unsigned) -> std::string {
      shared_world w(p);
      std::string thrown;
      try {
        run_on(chosen, how, w);
      } catch (std::exception const& e) {
        thrown = e.what();
      }
      if (w.alive != 0) return std::to_string(w.alive) + " alive";
      if (w.wrong != 0) return std::to_string(w.wrong) + " wrong";
      if (w.waiting() != 0) return std::to_string(w.waiting()) + " waiting";
      if (thrown.empty()) return w.begun == w.ended ? "" : "a process came to no end";
      bool const is_a_failure =
          p.has(act::throws) &&
          (thrown.starts_with("thrown by") || thrown.find("processes failed") != std::string::npos);
      return is_a_failure ? "" : thrown;
    });
  }
}
