// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/exploration.hpp"
#include "weft/testing/path.hpp"

namespace weft {

/// How random_walk chooses the next process.
enum class walk_strategy : std::uint8_t {
  /// Each ready process is equally likely.
  uniform,
  /// The likelihood of each ready process is in proportion to the steps that it has left, as far as
  /// earlier runs tell.  If processes are independent of one another, all schedules are then
  /// equally likely.
  weighted,
  /// Each process has a priority, drawn at random; the ready process with the highest priority
  /// runs.  At `depth - 1` steps, drawn at random, the priority of the process that would run falls
  /// below the priorities of all processes that have not fallen; the order among the fallen is
  /// drawn, too.  If a bug needs `depth` constraints of the form "this step before that one", a run
  /// finds it with probability at least 1 / (n k^(depth - 1)), for n processes and k steps
  /// (Burckhardt, Kothari, Musuvathi, Nagarakatte: A Randomized Scheduler with Probabilistic
  /// Guarantees of Finding Bugs, ASPLOS 2010).
  pct,
  /// All of these strategies in turn, pct with depths from 1 to `depth`.
  portfolio
};

/// How random_walk chooses, and how far it goes.
struct random_walk_options {
  std::uint64_t seed = 1;                       ///< The same seed gives the same schedules.
  walk_strategy by = walk_strategy::portfolio;  ///< How the next process is chosen.
  std::size_t depth = 3;                        ///< The depth of pct; at least 1.
  /// How many schedules are visited, at most.
  std::size_t max_schedules = 10'000;
  /// How many steps a schedule has, at most: a longer one is cut.
  std::size_t max_steps = 10'000;
  /// How long the search takes, at most, without the shrinking of the first failure.
  std::chrono::nanoseconds max_time = std::chrono::nanoseconds::max();
  /// Where a step ends.
  weft::granularity granularity = weft::granularity::cooperative;
  /// Whether the search ends with the first failure.
  bool stop_at_failure = true;
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
  /// With more than one thread, each has its own part of the schedules, and which failure is the
  /// first differs from run to run; make_state, the program, the check and the handlers are called
  /// on several threads at once.
  unsigned threads = 1;
};

namespace detail {
[[nodiscard]] exploration random_walk(random_walk_options const& options, subject& program);
}  // namespace detail

/// Runs a program as explore does, but only under some schedules, drawn at random, until a limit is
/// reached or, with `stop_at_failure`, one fails: for programs that have too many schedules.  The
/// first failure is shrunk, and its path recorded.  The result is never `complete`.
///
///     auto const found = random_walk({.seed = 7}, make_state, program, check);
///
/// O(schedules * steps * processes); allocates one schedule, and each distinct outcome.  Throws
/// std::invalid_argument if the depth is 0; std::bad_alloc and std::runtime_error as explore does.
template <class MakeState, class Program, class Check, class... Handlers>
exploration random_walk(random_walk_options const& options, MakeState make_state, Program program,
                        Check check, Handlers... handlers) {
  return detail::with_subject([&](detail::subject& s) { return detail::random_walk(options, s); },
                              make_state, program, check, handlers...);
}
template <class MakeState, class Program, class Check, class... Handlers>
  requires(!std::is_same_v<MakeState, random_walk_options>)
exploration random_walk(MakeState make_state, Program program, Check check, Handlers... handlers) {
  return detail::with_subject([](detail::subject& s) { return detail::random_walk({}, s); },
                              make_state, program, check, handlers...);
}

}  // namespace weft
