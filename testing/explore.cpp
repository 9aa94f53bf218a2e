// SPDX-License-Identifier: MIT
#include "weft/testing/explore.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include "weft/testing/detail/change_watch.hpp"
#include "weft/testing/detail/controlled_backend.hpp"
#include "weft/testing/detail/every_schedule.hpp"
#include "weft/testing/detail/failure_page.hpp"
#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/detail/search.hpp"
#include "weft/testing/detail/shrinking.hpp"
#include "weft/testing/detail/split_search.hpp"
#include "weft/testing/exploration.hpp"
#include "weft/testing/path.hpp"

namespace weft::detail {

void shrink_first_failure(subject& s, run_limits const& each, exploration& found,
                          std::size_t most_runs) {
  if (found.nondeterminism || most_runs == 0) return;
  for (auto& o : found.outcomes)
    if (o.is_wrong() && o.result.verdict != verdict::no_progress)
      return shrinking(s, each, o, most_runs).run();
}

/// Notes that all schedules with at most `bound` preemptions were visited, unless a process spins.
void note_bound(exploration& e, std::size_t bound) {
  if (e.covered.leaves_spins) return;
  e.covered.preemptions = bound;
  e.covered.within = e.schedules;
}
void visit_bounded(split_search<every_schedule>& s, std::size_t most_preemptions) {
  for (std::size_t bound = 0;; ++bound) {
    if (!s.visit({.most_preemptions = bound, .least_preemptions = bound})) return;
    note_bound(s.found(), bound);
    if (!s.is_pruned()) return;
    if (bound == most_preemptions) {
      s.found().complete = false;
      return;
    }
  }
}
/// Visits all schedules, as the options say.
exploration visited(explore_options const& options, run_limits const& each, subject& program) {
  search_limits const limits{each, options.max_schedules, options.max_time, options.progress,
                             options.stop_at_failure};
  unsigned const threads = threads_of(options.threads);
  if (options.reduce) return visited_reduced(program, limits, threads);
  split_search<every_schedule> s(program, limits, threads);
  if (options.max_preemptions)
    visit_bounded(s, *options.max_preemptions);
  else
    (void)s.visit({});
  return s.end();
}
exploration explore(explore_options const& options, subject& program) {
  if (options.reduce && options.max_preemptions)
    throw std::invalid_argument(
        "weft: explore cannot reduce under a bound on preemptions: of schedules that are alike it "
        "visits one, which may be one with more");
  run_limits const each{options.max_steps, options.granularity};
  exploration found = searched(program, [&] { return visited(options, each, program); });
  found.covered.granularity = options.granularity;
  found.covered.is_reduced = options.reduce;
  if (found.complete) found.covered.within = found.schedules;
  shrink_first_failure(program, each, found, options.max_shrinking_runs);
  write_page_of_failure(options.page, program, each, found);
  return found;
}

/// The limit of steps of a schedule that is followed.  It is high, since the search that found the
/// schedule may have had a higher limit than the default.
constexpr std::size_t most_steps_followed = 1'000'000;

/// Runs the schedule of `path` once.
exploration follow(schedule_path const& path, subject& program, std::string_view page) {
  auto const before = frames_so_far().alive();
  exploration found;
  std::size_t const most_steps =
      path.steps_if_cut() != 0 ? path.steps_if_cut() : most_steps_followed;
  change_watch c(path, most_steps);
  run_log log;
  std::vector<schedule_step> trace;
  log.trace = &trace;
  auto result = program.run(c, log, {most_steps, path.grain()});
  run_log second;
  if (log.was_cut && makes_no_progress(program, path, second))
    result.verdict = verdict::no_progress;
  found.complete = false;  // only one schedule is visited
  found.covered = {.granularity = path.grain(), .cut_by = "one was followed"};
  auto& seen = *found.add(result);
  seen.path = seen.found = path;
  seen.trace = std::move(trace);
  seen.switches = log.switches;
  seen.preemptions = log.preemptions;
  seen.decisions = log.decisions;
  if (log.was_cut) seen.last_change = c.last_change();
  if (!c.misfit().empty()) {
    found.nondeterminism = true;
    found.what_differed =
        "the path is not one of this program, or the program does not always "
        "do the same: " +
        c.misfit();
  }
  found.leaked = frames_so_far().alive() - before;
  found.leak_path = path;
  if (!found.nondeterminism)
    write_page_of(page, program, {most_steps, path.grain()}, found.outcomes.front(), found);
  return found;
}

exploration shrink(schedule_path const& path, std::size_t max_runs, subject& program) {
  auto found = follow(path, program);
  auto& outcome = found.outcomes.front();
  // A schedule with fewer preemptions may be longer.
  auto const max_steps = std::max(explore_options().max_steps, 2 * outcome.trace.size());
  if (!found.nondeterminism) shrinking(program, {max_steps, path.grain()}, outcome, max_runs).run();
  return found;
}

}  // namespace weft::detail
