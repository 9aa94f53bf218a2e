// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/wait_laws.hpp"

/// The law of tests/sched/sync/wait_laws_test.cpp in the schedules of small programs: with
/// cooperative steps in all of them; with parallel steps, and events between them, in some, or in
/// all by the target wait_laws_explored_in_full_test.

/// One wait that is disturbed once, and one that is not.
law_plan small_plan(kind_of_tokens const& kind, unsigned how, int most_yields) {
  law_plan plan;
  plan.rounds = 1;
  plan.impatient = 1;
  plan.patient = kind.is_a_mutex ? 0 : 1;  // the process that gives waits for the mutex as well
  plan.most_given = 1;
  plan.how = static_cast<disturbance>(how);
  plan.most_yields = most_yields;
  plan.turns = 1;
  return plan;
}
/// Checks that `search(make_state, program, check)` finds no failure, for each kind of token and
/// each disturbance.
template <class Search>
void holds_for_all(int most_yields, Search search) {
  for (auto const& kind : kinds_of_tokens())
    for (unsigned how = 1; how != static_cast<unsigned>(disturbance::kinds); ++how) {
      law_plan const plan = small_plan(kind, how, most_yields);
      CAPTURE(kind.name, how);
      auto const found =
          search([&] { return std::make_unique<token_law>(kind, plan); },
                 [](std::unique_ptr<token_law>& law) { return law->run(); },
                 [](std::unique_ptr<token_law>& law) {
                   auto const wrong = law->what_is_wrong();
                   return run_result{wrong.empty() ? verdict::ok : verdict::failed, wrong};
                 });
      if (!found.ok()) FAIL(found.report());
    }
}
/// Explores all schedules, or at most `most`.
void holds_when_explored(granularity grain, int most_yields, std::size_t most) {
  holds_for_all(most_yields, [&](auto make_state, auto program, auto check) {
    explore_options o;
    o.max_schedules = most;
    o.granularity = grain;
    o.reduce = true;
    o.max_shrinking_runs = 0;
    auto found = explore(o, make_state, program, check);
    CHECK((found.complete || found.schedules == most));
    return found;
  });
}
constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

TEST_CASE("no token is lost in any schedule in which a wait is cancelled") {
  holds_when_explored(granularity::cooperative, 2, all);
}

TEST_CASE(
    "no token is lost in the first schedules of parallel steps in which a wait is cancelled") {
  holds_when_explored(granularity::parallel, 1, 30);
}

TEST_CASE("no token is lost in random schedules of parallel steps in which a wait is cancelled") {
  holds_for_all(2, [](auto make_state, auto program, auto check) {
    random_walk_options o;
    o.max_schedules = 100;
    o.granularity = granularity::parallel;
    o.max_shrinking_runs = 0;
    return random_walk(o, make_state, program, check);
  });
}

TEST_CASE("no token is lost in any schedule of parallel steps in which a wait is cancelled",
          "[.full]") {
  holds_when_explored(granularity::parallel, 1, all);
}
