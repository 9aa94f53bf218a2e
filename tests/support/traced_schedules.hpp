// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/effects.hpp"
#include "tests/support/outcomes_everywhere.hpp"
#include "tests/support/random_programs/processes.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/random_programs/world.hpp"
#include "weft/testing/detail/controlled_backend.hpp"
#include "weft/testing/detail/every_schedule.hpp"
#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/explore.hpp"
#include "weft/testing/path.hpp"

/// Finds the schedule of explore that equals a run on some backend.
namespace weft::tests {

/// A run of a random program: its acts, in order, and its outcome.
struct seen_run {
  std::vector<int> trace;
  std::string outcome;
};

/// Takes all schedules in which the acts are done in that order: others are abandoned where they
/// differ.
class led_by_trace final : public detail::strategy {
 public:
  explicit led_by_trace(std::vector<int> const& wanted) : wanted_(wanted) {}

  std::size_t choose(detail::candidates const& who) override {
    auto const n = trace.size();
    bool const is_prefix =
        n <= wanted_.size() &&
        std::equal(trace.begin() + static_cast<std::ptrdiff_t>(agreed_), trace.end(),
                   wanted_.begin() + static_cast<std::ptrdiff_t>(agreed_));
    if (!is_prefix) return detail::candidates::none;
    agreed_ = n;
    return all_.choose(who);
  }
  std::size_t decide(std::size_t ways) override { return all_.decide(ways); }
  void on_run_end(detail::run_end how) override { all_.on_run_end(how); }
  /// Moves to the next schedule.  False if there is none.
  [[nodiscard]] bool next() {
    agreed_ = 0;
    return all_.next();
  }

  std::vector<int> trace;  // of the current or the last run

 private:
  std::vector<int> const& wanted_;
  std::size_t agreed_ = 0;
  detail::every_schedule all_{{}};
};

enum class run_path : unsigned char {
  found,    // and following it has the same outcome
  missing,  // no schedule equals the run
  not_found_in_time
};
/// Looks for the path of the schedule that equals the run.
inline run_path path_of(program_of_acts const& l, seen_run const& seen, std::size_t most_runs) {
  led_by_trace c(seen.trace);
  auto make_state = [&] {
    auto w = std::make_unique<shared_world>(l);
    c.trace.clear();
    w->trace = &c.trace;
    return w;
  };
  auto program = [](std::unique_ptr<shared_world>& w) { return starts_all(*w); };
  auto check = [](std::unique_ptr<shared_world> const& w) { return text(*w); };
  auto out = [](std::unique_ptr<shared_world>& w) { return console_to_string(w->out); };
  auto asked = [](std::unique_ptr<shared_world>& w) { return counts_up(w->asked); };
  detail::subject_of s(make_state, program, check, out, asked);
  detail::run_log log;
  for (std::size_t i = 0; i != most_runs; ++i) {
    auto const result = s.run(c, log, {1000, granularity::cooperative});
    bool const is_it = result.verdict != verdict::cut && c.trace == seen.trace &&
                       outcome_of(result.verdict, result.text) == seen.outcome;
    if (is_it) {
      auto const path = log.path(granularity::cooperative);
      auto const again = detail::follow(path, s);
      auto const& o = again.outcomes.at(0).result;
      bool const is_same = !again.nondeterminism && c.trace == seen.trace &&
                           outcome_of(o.verdict, o.text) == seen.outcome;
      return is_same ? run_path::found : run_path::missing;
    }
    if (!c.next()) return run_path::missing;
  }
  return run_path::not_found_in_time;
}

}  // namespace weft::tests
