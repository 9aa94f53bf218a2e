// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/testing/detail/one_run.hpp"
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
  /// Where a step ends.
  weft::granularity granularity = weft::granularity::cooperative;
  /// Whether the search visits only one, or few, of schedules that differ in nothing but the order
  /// of independent steps.  For programs that share state only by operations: accesses to a
  /// variable that two processes reach by reference are not seen, unless the processes announce
  /// them (syncing::touch).  So the search misses a forgotten lock.  explore throws if
  /// max_preemptions is set, too: of schedules that are alike, the one that is visited may exceed
  /// that bound.
  bool reduce = false;
  /// Whether the search ends with the first failure.
  bool stop_at_failure = false;
  /// How often the program is run, at most, to shrink the first failure; 0 leaves the failure as it
  /// was found.
  std::size_t max_shrinking_runs = 10'000;
  /// Whether the search reports its progress.
  weft::progress progress = weft::progress::on_terminal;
  /// A file, *.html.  If there is a failure, and no nondeterminism, a page that shows the failure
  /// is written to the file: its schedule, step by step, beside the schedule by which it was found;
  /// and all outcomes.
  std::string_view page{};
  /// How many threads visit schedules, the calling one included; 0: as many as the machine has.
  /// The result is that of one thread.  With `reduce` only the outcomes are those of one thread; a
  /// few more schedules are visited, the same number by two threads as by eight.  With more than
  /// one thread, make_state, the program, the check and the handlers are called on several threads
  /// at once, so the objects that they refer to outside of the state must be safe for that.
  unsigned threads = 1;
};

namespace detail {

[[nodiscard]] exploration explore(explore_options const& options, subject& program);
[[nodiscard]] exploration follow(schedule_path const& path, subject& program,
                                 std::string_view page = {});
[[nodiscard]] exploration shrink(schedule_path const& path, std::size_t max_runs, subject& program);
/// Makes the first failure of `found` smaller, by at most `most_runs` runs.
void shrink_first_failure(subject& s, run_limits const& each, exploration& found,
                          std::size_t most_runs);

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
/// process runs between two operations.  Code between two operations is one step: a plain ++n never
/// fails here; ThreadSanitizer finds data races.
///
/// By default schedules are those of one thread; `{.granularity = granularity::parallel}` has those
/// of several.  With that granularity, a step also ends before each operation on shared state,
/// since another thread could run there.  A deferred event, which a process causes without an
/// operation (an unlock by a guard, a notification, a release, a completion, the end of an address,
/// a cancellation), then takes effect in a step of its own, before the next operation of the
/// process that others see.  A read that is no operation, such as gate::waiting(), belongs to the
/// step that it is in; so do the operations that a clause performs on outer handlers (outer.hpp).
///
/// A handler may let the explorer choose what it does (decision.hpp): each way is taken in some
/// schedule.
///
/// Nothing comes from outside: a process is in a deadlock if it waits for a completion that no
/// process completes.
///
/// Time is virtual.  After a fork one of the two processes is run again from its beginning: its
/// writes to `state` before the fork, other than by operations, are made again.
/// The program is run more often than `schedules` says: each new outcome is run twice; and if the
/// first process only yields, spawns and forks, the search begins again at its first fork, since
/// until then that process keeps no log.
///
/// The first failure is shrunk.  O(schedules * steps * processes); allocates one schedule, and each
/// distinct outcome.  Called by any thread, on which all schedules run, unless `.threads` asks for
/// more.
///
/// Throws std::invalid_argument for options that contradict one another; std::bad_alloc if the
/// search has no memory for its notes; std::runtime_error if the page cannot be written.  A
/// std::bad_alloc that the program throws is an outcome.
template <class MakeState, class Program, class Check, class... Handlers>
exploration explore(explore_options const& options, MakeState make_state, Program program,
                    Check check, Handlers... handlers) {
  return detail::with_subject([&](detail::subject& s) { return detail::explore(options, s); },
                              make_state, program, check, handlers...);
}
template <class MakeState, class Program, class Check, class... Handlers>
  requires(!std::is_same_v<MakeState, explore_options>)
exploration explore(MakeState make_state, Program program, Check check, Handlers... handlers) {
  return detail::with_subject([](detail::subject& s) { return detail::explore({}, s); }, make_state,
                              program, check, handlers...);
}

/// A schedule to follow, and the page to write.
struct follow_options {
  std::string_view path;    ///< The path of the schedule, from a report.
  std::string_view page{};  ///< A file, *.html, to which a page that shows the run is written.
};

/// Runs the one schedule that is written in `path`, a path from a report.  The outcome's trace
/// lists its steps.  If the path does not fit the program, as when it names a process that is not
/// ready at a step, the result has `nondeterminism`, and `what_differed` gives the step, the
/// process that the path names, and the processes that are ready.  O(steps * processes); allocates
/// the outcome.  Throws std::invalid_argument if the text is no path; std::bad_alloc and
/// std::runtime_error as explore does.
template <class MakeState, class Program, class Check, class... Handlers>
exploration follow(std::string_view path, MakeState make_state, Program program, Check check,
                   Handlers... handlers) {
  return detail::with_subject(
      [&](detail::subject& s) { return detail::follow(schedule_path(path), s); }, make_state,
      program, check, handlers...);
}
template <class MakeState, class Program, class Check, class... Handlers>
exploration follow(follow_options const& how, MakeState make_state, Program program, Check check,
                   Handlers... handlers) {
  return detail::with_subject(
      [&](detail::subject& s) { return detail::follow(schedule_path(how.path), s, how.page); },
      make_state, program, check, handlers...);
}

/// Follows a path and shrinks it: the outcome is the smallest schedule found, in at most `max_runs`
/// runs, that ends in the same way.  If the runs suffice, it is the smallest there is: with the
/// fewest decisions that are not 0, of these with the fewest preemptions, of these with the fewest
/// switches, of these with the fewest steps, of these with the smallest sum of decisions.  O(runs *
/// steps * processes); allocates the outcome.  Throws as follow does.
template <class MakeState, class Program, class Check, class... Handlers>
exploration shrink(std::string_view path, std::size_t max_runs, MakeState make_state,
                   Program program, Check check, Handlers... handlers) {
  return detail::with_subject(
      [&](detail::subject& s) { return detail::shrink(schedule_path(path), max_runs, s); },
      make_state, program, check, handlers...);
}

}  // namespace weft
