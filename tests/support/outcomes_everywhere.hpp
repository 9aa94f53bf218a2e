// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch.hpp>
#include <cstddef>
#include <exception>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/each_backend.hpp"
#include "tests/support/random_programs/dialects.hpp"
#include "tests/support/random_programs/laws.hpp"
#include "tests/support/random_programs/processes.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/random_programs/running.hpp"
#include "tests/support/random_programs/world.hpp"
#include "tests/support/reduced_searches.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/threads.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/testing/explore.hpp"

/// The outcomes of random programs, on every backend.
namespace weft::tests {

/// The waiting processes of a deadlock are not compared, nor their actions after the cancellation.
inline std::string outcome_of(verdict v, std::string const& text) {
  if (v == verdict::deadlock) return "deadlock";
  return (v == verdict::ok ? "" : "throws ") + text;
}
inline bool is_deadlock(std::exception_ptr const& error) {
  try {
    std::rethrow_exception(error);
  } catch (deadlock const&) {
    return true;
  } catch (...) {
    return false;
  }
}
template <class Where>
std::string outcome_on(program_of_acts const& l, std::vector<int>* trace = nullptr) {
  shared_world w(l);
  w.trace = trace;
  try {
    run_on(chosen_backend::of<Where>(), virtual_time(), w);
  } catch (deadlock const& e) {
    return outcome_of(verdict::deadlock, e.what());
  } catch (exceptions const& e) {
    return outcome_of(is_deadlock(e.all.front().error) ? verdict::deadlock : verdict::failed,
                      e.what());
  } catch (std::exception const& e) {
    return outcome_of(verdict::failed, e.what());
  }
  return outcome_of(verdict::ok, text(w));
}

/// All outcomes that a search finds; `are_all` is false if there are too many schedules.
struct all_outcomes {
  bool are_all = false;
  std::set<std::string> of;
};
inline all_outcomes outcomes_explored(program_of_acts const& l, granularity grain, std::size_t most,
                                      bool reduce) {
  auto const found = explored({.max_schedules = most,
                               .max_steps = 1000,
                               .granularity = grain,
                               .reduce = reduce,
                               .max_shrinking_runs = 0,
                               .progress = progress::never},
                              l);
  all_outcomes all{found.complete, {}};
  for (auto const& o : found.outcomes) all.of.insert(outcome_of(o.result.verdict, o.result.text));
  return all;
}

/// Checks that each outcome of `run(program, round)` is among those of the search.
template <class Run>
void compare_all(seeds const& some, granularity grain, int rounds, Run run) {
  unsigned tried = 0, small = 0;
  check_law(some, dialect_of_every_backend(3),
            [&](program_of_acts const& p, unsigned) -> std::string {
              auto const explored = outcomes_explored(p, grain, 5000, true);
              ++tried;
              small += explored.are_all;
              for (int i = 0; explored.are_all && i != rounds; ++i)
                if (std::string const found = run(p, i); !explored.of.contains(found))
                  return "explore does not find: " + found;
              return "";
            });
  if (!some.only_some()) CHECK(small > tried * 8 / 10);
}

}  // namespace weft::tests
