// SPDX-License-Identifier: MIT
#include "weft/testing/check_schedules.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "weft/testing/assertions.hpp"
#include "weft/testing/detail/every_schedule.hpp"
#include "weft/testing/detail/failure_page.hpp"
#include "weft/testing/detail/hang_watch.hpp"
#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/detail/search.hpp"
#include "weft/testing/detail/split_search.hpp"
#include "weft/testing/detail/test_framework.hpp"
#include "weft/testing/detail/walking.hpp"
#include "weft/testing/exploration.hpp"
#include "weft/testing/explore.hpp"
#include "weft/testing/random_walk.hpp"

namespace weft::detail {

namespace {

/// A search in stages.  Each stage returns whether the search is over: a failure was found, or all
/// schedules were visited.  A stage that begins when the time is up runs nothing.
class staged_search {
 public:
  staged_search(check_options const& o, subject& s, unsigned threads)
      : options_(o), subject_(s), threads_(threads) {
    found_.complete = false;
  }

  exploration run() {
    (void)(visit_random(few_walks, 1, options_.seed) || visit_bounded(left() / 20) ||
           visit_reduced() || visit_bounded(left() / 2) ||
           visit_random(search_limits::no_limit, threads_, options_.seed + 1));
    if (!found_.complete) found_.covered.cut_by = has_failed() ? at_failure : "the time was up";
    found_.covered.granularity = granularity::parallel;
    return std::move(found_);
  }

 private:
  using clock = search::clock;
  using duration = std::chrono::nanoseconds;
  static constexpr std::size_t few_walks = 100;

  [[nodiscard]] duration left() const {
    return std::max(duration(0), options_.time - duration(clock::now() - start_));
  }
  [[nodiscard]] search_limits limits(duration time, std::size_t most = search_limits::no_limit) {
    return {
        {options_.max_steps, granularity::parallel}, most, time, options_.progress, true, &watch_};
  }
  /// Whether a stage has found a failure, a leak or nondeterminism.
  [[nodiscard]] bool has_failed() const { return !found_.ok(); }

  /// Visits all schedules with no preemption, then those with one, and so on, until `time` has
  /// passed.  A second call goes on at the bound at which the first one has run out of time.
  bool visit_bounded(duration time) {
    if (all_were_bounded_) return false;
    split_search<every_schedule> s(subject_, limits(time), threads_);
    std::size_t before = 0;
    for (; s.visit({.most_preemptions = bound_, .least_preemptions = bound_}); ++bound_) {
      auto const& found = s.found();
      if (!found.covered.leaves_spins && !found_.covered.leaves_spins) {
        found_.covered.preemptions = bound_;
        found_.covered.within += found.schedules - std::exchange(before, found.schedules);
      }
      if (s.is_pruned()) continue;
      all_were_bounded_ = true;
      found_.complete = found.complete && found_.cut == 0;
      break;
    }
    add(s.end());
    return found_.complete || has_failed();
  }
  bool visit_reduced() {
    exploration found = visited_reduced(subject_, limits(left() / 5 * 2), threads_);
    if (found.complete && found.ok()) {
      found_.complete = true;
      found_.covered.is_reduced = true;
      found_.covered.within = found.schedules;
    }
    add(std::move(found));
    if (found_.complete) found_.covered.leaves_spins = false;  // set by earlier stages
    return found_.complete || has_failed();
  }
  bool visit_random(std::size_t most, unsigned threads, std::uint64_t seed) {
    exploration e =
        walk(subject_, {limits(left(), most), seed, walk_strategy::portfolio, 3, threads});
    found_.covered.random += e.schedules;
    add(std::move(e));
    return has_failed();
  }
  /// Adds the results of a stage.  The stage sets `complete` itself, and run() sets `cut_by`.
  void add(exploration e) {
    bool const is_complete = found_.complete;
    e.covered.cut_by = {};
    found_.add(std::move(e));
    found_.complete = is_complete;
  }

  check_options const& options_;
  subject& subject_;
  unsigned const threads_;
  clock::time_point const start_ = clock::now();
  std::size_t bound_ = 0;
  bool all_were_bounded_ = false;  // the last bound has excluded no schedule
  exploration found_;
  hang_watch watch_{hang_watch::usual_patience, hang_watch::say};
};

/// Whether the path of the first failure ends in the same way if one thread runs it alone.  A leak,
/// or nondeterminism, is never confirmed: then one thread searches anew.
bool is_confirmed(check_options const& options, subject& program, exploration const& found) {
  auto const* const o = found.first_failure();
  if (!o || found.nondeterminism || found.leaked != 0) return false;
  replay_strategy again(o->path);
  run_log log;
  auto const result = program.run(again, log, {options.max_steps, granularity::parallel});
  return again.misfit().empty() &&
         (o->result.verdict == verdict::no_progress ? log.was_cut : result == o->result);
}

exploration found_by_stages(check_options const& options, subject& program, unsigned threads) {
  run_limits const each{options.max_steps, granularity::parallel};
  exploration found = searched(program, [&] {
    exploration by_all = staged_search(options, program, threads).run();
    // The threads may share a global variable, so one thread alone confirms a failure.
    return threads == 1 || by_all.ok() || is_confirmed(options, program, by_all)
               ? std::move(by_all)
               : staged_search(options, program, 1).run();
  });
  shrink_first_failure(program, each, found, options.max_shrinking_runs);
  write_page_of_failure(options.page, program, each, found);
  return found;
}

}  // namespace

/// The search of an assertion, called by assert_search().  One thread at a time has assertions, so
/// `.threads` has no effect here.
static exploration visited(check_options const& options, subject& program) {
  return found_by_stages(options, program, 1);
}
exploration check_schedules(check_options const& options, subject& program, bool may_share,
                            assertion_place const& at) {
  if (at.ends_test || test_framework::running()) return assert_search(at, options, program);
  unsigned const if_none_is_said = may_share ? threads_of(0) : 1;
  return found_by_stages(options, program,
                         options.threads != 0 ? options.threads : if_none_is_said);
}

}  // namespace weft::detail
