// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/detail/search.hpp"
#include "weft/testing/detail/walks.hpp"
#include "weft/testing/explore.hpp"

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
  /// All of these in turn, pct with depths from 1 to `depth`.
  portfolio
};

/// How random_walk chooses, and how far it goes.
struct random_walk_options {
  std::uint64_t seed = 1;  ///< The same seed gives the same schedules.
  walk_strategy by = walk_strategy::portfolio;
  std::size_t depth = 3;  ///< The depth of pct; at least 1.
  /// How many schedules are visited, at most.
  std::size_t max_schedules = 10'000;
  /// How many steps a schedule has, at most: a longer one is cut.
  std::size_t max_steps = 10'000;
  /// How long the search takes, at most, without the shrinking of the first failure.
  std::chrono::nanoseconds max_time = std::chrono::nanoseconds::max();
  weft::granularity granularity = weft::granularity::cooperative;
  bool stop_at_failure = true;
  /// How often the program is run, at most, to shrink the first failure, as in explore_options.
  std::size_t max_shrinking_runs = 10'000;
  weft::progress progress = weft::progress::on_terminal;
};

namespace detail {

inline exploration random_walk(random_walk_options const& options, subject& program) {
  run_limits const each{options.max_steps, options.granularity};
  search s(program, {each, options.max_schedules, options.max_time, options.progress,
                     options.stop_at_failure});
  if (options.depth == 0) throw std::invalid_argument("weft: pct has a depth of at least 1");
  walkers_map map(options.seed);
  std::vector<std::unique_ptr<random_walker>> walkers;
  bool const all = options.by == walk_strategy::portfolio;
  if (all || options.by == walk_strategy::uniform)
    walkers.push_back(std::make_unique<uniform_walker>(map));
  if (all || options.by == walk_strategy::weighted)
    walkers.push_back(std::make_unique<weighted_walker>(map));
  if (all || options.by == walk_strategy::pct)
    for (std::size_t d = all ? 1 : options.depth; d <= options.depth; ++d)
      walkers.push_back(std::make_unique<pct_walker>(map, d));
  for (std::size_t i = 0; s.run(*walkers[i]);) i = (i + 1) % walkers.size();
  s.found().complete = false;  // perhaps it is complete, but that is not known
  s.end();
  shrink_first_failure(program, each, s.found(), options.max_shrinking_runs);
  return std::move(s.found());
}

}  // namespace detail

/// Like explore, for programs that have too many schedules: visits some, drawn at random, until one
/// fails.  The failure is shrunk, and its path recorded.  The result is never `complete`.
///
///     auto const found = random_walk({.seed = 7}, make_state, program, check);
///
/// Throws std::invalid_argument if the depth is 0; std::bad_alloc as explore does.
template <class MakeState, class Program, class Check, class... Handlers>
exploration random_walk(random_walk_options const& options, MakeState make_state, Program program,
                        Check check, Handlers... handlers) {
  detail::subject_of s(make_state, program, check, handlers...);
  return detail::random_walk(options, s);
}
template <class MakeState, class Program, class Check, class... Handlers>
  requires(!std::is_same_v<MakeState, random_walk_options>)
exploration random_walk(MakeState make_state, Program program, Check check, Handlers... handlers) {
  return random_walk(random_walk_options(), std::move(make_state), std::move(program),
                     std::move(check), std::move(handlers)...);
}

}  // namespace weft
