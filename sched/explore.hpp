// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sched/detail/choosing.hpp"
#include "sched/detail/one_run.hpp"
#include "sched/exploration.hpp"
#include "sched/path.hpp"

namespace weft {

/// How far explore goes.
struct explore_options {
  /// Schedules to visit at most.
  std::size_t max_schedules = std::numeric_limits<std::size_t>::max();
  /// Steps of one schedule at most: what goes on longer is cut.
  std::size_t max_steps = 10'000;
};

/// Runs a program under every schedule there is, and checks how each ends.
///
///     auto const found = explore([] { return 0; },
///                                [](int& n) { return two_increments(n); },
///                                [](int& n) { return n == 2; });
///
/// For each schedule there is a fresh state, `make_state()`; then `program(state)`, an eff<void,
/// ...>, is run as schedule() would, under the handlers `handlers(state)...`; then `check(state)`
/// says whether that is right: a bool, or a string, which is the outcome's name and right.
///
/// A schedule says at each step which of the processes that are ready runs: up to its next
/// yield, fork, wait or end.  So processes of s1, s2, ... steps have (s1 + s2 + ...)! / (s1! s2!
/// ...) schedules: keep programs small.  What is shared may be shared in any way, also by plain
/// references: between two operations nobody else runs.
///
/// After a fork one of the two is run again from its beginning: what it wrote to `state` before the
/// fork, other than by operations, is written again.
///
/// O(schedules * steps * processes).  One thread.
template <class MakeState, class Program, class Check, class... Handlers>
exploration explore(explore_options const& options, MakeState make_state, Program program,
                    Check check, Handlers... handlers) {
  exploration found;
  detail::choices choices;
  auto const run = [&](detail::choices& c) {
    return detail::run_once(c, options.max_steps, make_state, program, check, handlers...);
  };
  auto const before = detail::frames_so_far().alive();
  for (bool more = true; more;) {
    auto const result = run(choices);
    if (auto* const fresh = found.add(result)) {
      fresh->path = choices.path();
      detail::choices again(fresh->path);  // to see how it went, and that it goes the same way
      again.trace_to(&fresh->trace);
      found.nondeterminism = run(again) != result || again.misfit();
    }
    found.nondeterminism |= choices.misfit();
    more = !found.nondeterminism && choices.next();
    if (more && found.schedules == options.max_schedules) {
      found.complete = false;
      more = false;
    }
  }
  found.leaked = detail::frames_so_far().alive() - before;
  return found;
}
template <class MakeState, class Program, class Check, class... Handlers>
  requires(!std::is_same_v<MakeState, explore_options>)
exploration explore(MakeState make_state, Program program, Check check, Handlers... handlers) {
  return explore(explore_options(), std::move(make_state), std::move(program), std::move(check),
                 std::move(handlers)...);
}

/// Runs the one schedule that is written in `path`: one from a report.  The outcome's trace says
/// what ran.  If the path is not one of this program, that is `nondeterminism`.
template <class MakeState, class Program, class Check, class... Handlers>
exploration follow(std::string_view path, MakeState make_state, Program program, Check check,
                   Handlers... handlers) {
  exploration found;
  detail::choices choices{schedule_path(path)};
  std::vector<schedule_step> trace;
  choices.trace_to(&trace);
  auto const before = detail::frames_so_far().alive();
  auto const result = detail::run_once(choices, explore_options().max_steps, make_state, program,
                                       check, handlers...);
  auto& seen = *found.add(result);
  seen.path = choices.path();
  seen.trace = std::move(trace);
  found.nondeterminism = choices.misfit();
  found.leaked = detail::frames_so_far().alive() - before;
  return found;
}

}  // namespace weft
