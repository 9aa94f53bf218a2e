// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/testing/detail/dpor_strategy.hpp"
#include "weft/testing/detail/every_schedule.hpp"
#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/detail/search.hpp"
#include "weft/testing/detail/shrinking.hpp"
#include "weft/testing/exploration.hpp"
#include "weft/testing/path.hpp"

namespace weft {

/// How far explore goes.
struct explore_options {
  /// How many schedules are visited, at most.
  std::size_t max_schedules = std::numeric_limits<std::size_t>::max();
  /// How many steps a schedule has, at most: a longer one is cut.
  std::size_t max_steps = 10'000;
  /// How long the search takes, at most, without the shrinking of the first failure.
  std::chrono::nanoseconds max_time = std::chrono::nanoseconds::max();
  /// How many preemptions a schedule has, at most.  Schedules with none are visited first, then
  /// those with one, and so on: so the first failure has as few as possible.
  std::optional<std::size_t> max_preemptions{};
  weft::granularity granularity = weft::granularity::cooperative;
  /// Of schedules that differ only in the order of independent steps, visits one, or few.  For
  /// programs that share state only by operations: accesses to a variable that two processes reach
  /// by reference are not seen, unless the processes announce them (syncing::touch).  Refused
  /// together with a bound on preemptions: of schedules that are alike, the one that is visited may
  /// exceed the bound.
  bool reduce = false;
  bool stop_at_failure = false;
  /// How often the program is run, at most, to shrink the first failure; 0 leaves the failure as it
  /// was found.
  std::size_t max_shrinking_runs = 10'000;
  weft::progress progress = weft::progress::on_terminal;
};

namespace detail {

inline void shrink_first_failure(subject& s, run_limits const& each, exploration& found,
                                 std::size_t most_runs) {
  if (found.nondeterminism || most_runs == 0) return;
  for (auto& o : found.outcomes)
    if (o.is_wrong()) return shrinking(s, each, o, most_runs).run();
}

template <class Chooser>
void visit_all(search& s) {
  Chooser c;
  while (s.run(c) && c.what_differed().empty() && c.next()) {
  }
  if (!c.what_differed().empty()) s.differs(c.what_differed());
}
inline void visit_bounded(search& s, std::size_t most_preemptions) {
  for (std::size_t bound = 0;; ++bound) {
    every_schedule c(bound);
    do {
      bool const goes_on = s.run(c, bound);
      if (!c.what_differed().empty()) return s.differs(c.what_differed());
      if (!goes_on) return;
    } while (c.next());
    if (!c.is_pruned()) return;
    if (bound == most_preemptions) {
      s.found().complete = false;
      return;
    }
  }
}
inline exploration explore(explore_options const& options, subject& program) {
  if (options.reduce && options.max_preemptions)
    throw std::invalid_argument(
        "weft: explore cannot reduce under a bound on preemptions: of schedules that are alike it "
        "visits one, which may be one with more");
  run_limits const each{options.max_steps, options.granularity};
  search s(program, {each, options.max_schedules, options.max_time, options.progress,
                     options.stop_at_failure});
  if (options.reduce)
    visit_all<dpor_strategy>(s);
  else if (options.max_preemptions)
    visit_bounded(s, *options.max_preemptions);
  else
    visit_all<every_schedule>(s);
  s.end();
  shrink_first_failure(program, each, s.found(), options.max_shrinking_runs);
  return std::move(s.found());
}

/// The limit of steps of a schedule that is followed.  It is high, since the search that found the
/// schedule may have had a higher limit than the default.
inline constexpr std::size_t most_steps_followed = 1'000'000;

/// Runs the schedule of `path` once.
inline exploration follow(schedule_path const& path, subject& program) {
  auto const before = frames_so_far().alive();
  exploration found;
  replay_strategy c(path);
  run_log log;
  std::vector<schedule_step> trace;
  log.trace = &trace;
  auto const result = program.run(c, log, {most_steps_followed, path.grain()});
  found.complete = false;  // it is one schedule
  auto& seen = *found.add(result);
  seen.path = seen.found = path;
  seen.trace = std::move(trace);
  seen.switches = log.switches;
  seen.preemptions = log.preemptions;
  seen.decisions = log.decisions;
  if (!c.misfit().empty()) {
    found.nondeterminism = true;
    found.what_differed =
        "the path is not one of this program, or the program does not always "
        "do the same: " +
        c.misfit();
  }
  found.leaked = frames_so_far().alive() - before;
  found.leak_path = path;
  return found;
}

}  // namespace detail

/// Runs a program under every schedule there is, and checks how each ends.
///
///     auto const found = explore([] { return 0; },
///                                [](int& n) { return two_increments(n); },
///                                [](int& n) { return n == 2; });
///
/// For each schedule there is a fresh state, `make_state()`; then `program(state)`, an eff<void,
/// ...>, is run as by schedule(), under the handlers `handlers(state)...`; then `check(state)` says
/// whether the result is right: by a bool; or by a string, which names the outcome and means that
/// it is right; or by a run_result; or, if it returns nothing, by an exception.
///
/// A schedule says at each step which of the ready processes runs: up to its next yield, fork, wait
/// or end.  So processes of s1, s2, ... steps have (s1 + s2 + ...)! / (s1! s2! ...) schedules: keep
/// programs small.  Processes may share state in any way, also by plain references: no other
/// process runs between two operations.  With `granularity::parallel` a step also ends before each
/// operation on shared state, since another thread could run there.  With that granularity, a
/// deferred event, which a process causes without an operation, also takes effect in a step of its
/// own, before the process's next operation that others see: an unlock by a guard, a notification,
/// a release, a completion, the end of an address, a cancellation.  A read that is no operation,
/// such as gate::waiting(), belongs to the step that it is in; so do the operations that a clause
/// performs on outer handlers (outer.hpp).
///
/// A handler may let the explorer choose what it does (decision.hpp): each way is taken in some
/// schedule.
///
/// Nothing comes from outside: a process is in a deadlock if it waits for a completion that no
/// process completes.
///
/// Time is virtual.  After a fork one of the two processes is run again from its beginning: what it
/// wrote to `state` before the fork, other than by operations, is written again.
///
/// The first failure is shrunk.  O(schedules * steps * processes); memory for one schedule, and for
/// each distinct outcome.  Runs on the calling thread.
///
/// Throws std::invalid_argument for options that contradict one another; std::bad_alloc if the
/// search has no memory for its notes.  A std::bad_alloc of the program is an outcome of it.
template <class MakeState, class Program, class Check, class... Handlers>
exploration explore(explore_options const& options, MakeState make_state, Program program,
                    Check check, Handlers... handlers) {
  detail::subject_of s(make_state, program, check, handlers...);
  return detail::explore(options, s);
}
template <class MakeState, class Program, class Check, class... Handlers>
  requires(!std::is_same_v<MakeState, explore_options>)
exploration explore(MakeState make_state, Program program, Check check, Handlers... handlers) {
  return explore(explore_options(), std::move(make_state), std::move(program), std::move(check),
                 std::move(handlers)...);
}

/// Runs the one schedule that is written in `path`, which is one from a report.  The outcome's
/// trace lists its steps.  If the path does not fit the program, since it names another process at
/// a step, the result has `nondeterminism`, and `what_differed` says at which step, what the path
/// names, and which processes are ready.  Throws std::invalid_argument if the text is no path.
template <class MakeState, class Program, class Check, class... Handlers>
exploration follow(std::string_view path, MakeState make_state, Program program, Check check,
                   Handlers... handlers) {
  detail::subject_of s(make_state, program, check, handlers...);
  return detail::follow(schedule_path(path), s);
}

/// Follows a path and shrinks it: the outcome is the smallest schedule found, in at most `max_runs`
/// runs, that ends in the same way.  If the runs suffice, it is the smallest there is: with the
/// fewest decisions that are not 0, of these with the fewest preemptions, of these with the fewest
/// switches, of these with the fewest steps, of these with the smallest sum of decisions.
template <class MakeState, class Program, class Check, class... Handlers>
exploration shrink(std::string_view path, std::size_t max_runs, MakeState make_state,
                   Program program, Check check, Handlers... handlers) {
  detail::subject_of s(make_state, program, check, handlers...);
  schedule_path const from(path);
  auto found = detail::follow(from, s);
  auto& outcome = found.outcomes.front();
  // A schedule with fewer preemptions may be longer.
  auto const max_steps = std::max(explore_options().max_steps, 2 * outcome.trace.size());
  if (!found.nondeterminism)
    detail::shrinking(s, {max_steps, from.grain()}, outcome, max_runs).run();
  return found;
}

}  // namespace weft
