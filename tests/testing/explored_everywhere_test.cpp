// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/outcomes_everywhere.hpp"
#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/dialects.hpp"
#include "tests/support/random_programs/laws.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/traced_schedules.hpp"

/// No backend contradicts a complete search: every outcome of a random program on one thread or on
/// several is among the outcomes that explore finds.

TEST_CASE("an outcome on one thread, in any order, is among the outcomes of explore") {
  compare_all(seeds(200), granularity::cooperative, 10, [](program_of_acts const& l, int round) {
    return round == 0 ? outcome_on<on_one_thread>(l) : outcome_on<in_random_order>(l);
  });
}

TEST_CASE("each run on one thread, in any order, is a schedule that can be followed") {
  unsigned tried = 0, found = 0;
  seeds const some(200);
  check_law(some, dialect_of_every_backend(3),
            [&](program_of_acts const& l, unsigned) -> std::string {
              for (int round = 0; round != 5; ++round) {
                seen_run seen;
                seen.outcome = round == 0 ? outcome_on<on_one_thread>(l, &seen.trace)
                                          : outcome_on<in_random_order>(l, &seen.trace);
                auto const its_path = path_of(l, seen, 20'000);
                ++tried;
                found += its_path == run_path::found;
                if (its_path == run_path::missing) return "no schedule comes to: " + seen.outcome;
              }
              return "";
            });
  if (!some.only_some()) CHECK(found > tried * 9 / 10);
}

TEST_CASE("a trace or an outcome that no schedule has is given no path") {
  using enum act;
  program_of_acts const l{{{{writes, yields, writes}}, {{reads}}}};
  seen_run real;
  real.outcome = outcome_on<on_one_thread>(l, &real.trace);
  CHECK(path_of(l, real, 1000) == run_path::found);
  auto other = real;
  other.outcome += "more";
  CHECK(path_of(l, other, 1000) == run_path::missing);
  other = real;
  std::swap(other.trace.front(), other.trace.back());
  CHECK(path_of(l, other, 1000) == run_path::missing);
  CHECK(path_of(l, other, 1) == run_path::not_found_in_time);
}

TEST_CASE("an outcome on several threads is among the outcomes of explore in parallel steps") {
  compare_all(seeds(is_sanitized ? 20 : 500), granularity::parallel, 40,
              [](program_of_acts const& l, int round) {
                return round % 2 == 0 ? outcome_on<on_sharing<2>>(l)
                                      : outcome_on<on_stealing<2>>(l);
              });
}
