// SPDX-License-Identifier: MIT

/// The law of tests/wait_laws_test.cpp in every schedule of small programs.

#include <catch2/catch.hpp>
#include <cstddef>
#include <memory>
#include <string>

#include "effects/effects.hpp"
#include "sched/schedule.hpp"
#include "sched/testing.hpp"
#include "tests/support/wait_laws.hpp"

using namespace weft;
using namespace weft::tests;

TEST_CASE("no token is lost in any schedule where a wait is cancelled") {
  for (auto const& kind : kinds_of_tokens())
    for (unsigned how = 1; how != static_cast<unsigned>(disturbance::kinds); ++how) {
      law_plan plan;
      plan.rounds = 1;
      plan.impatient = 1;
      plan.patient = kind.is_a_mutex ? 0 : 1;  // the process that gives waits for it as well
      plan.most_given = 1;
      plan.how = static_cast<disturbance>(how);
      plan.most_yields = 2;
      plan.turns = 1;
      CAPTURE(kind.name, how);
      auto const found = explore(
          {.reduce = true, .max_shrinking_runs = 0},
          [&] { return std::make_unique<token_law>(kind, plan); },
          [](std::unique_ptr<token_law>& law) { return law->run(); },
          [](std::unique_ptr<token_law>& law) {
            auto const wrong = law->what_is_wrong();
            return run_result{wrong.empty() ? verdict::ok : verdict::failed, wrong};
          });
      if (!found.ok()) FAIL(found.report());
      CHECK(found.complete);
    }
}
