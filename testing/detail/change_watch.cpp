// SPDX-License-Identifier: MIT
#include "weft/testing/detail/change_watch.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "weft/sched/base/process_id.hpp"
#include "weft/testing/detail/controlled_backend.hpp"
#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/exploration.hpp"
#include "weft/testing/path.hpp"

namespace weft::detail {

namespace {

/// How many processes made the steps from `from` on, if each came to the same few places again and
/// again; 0 if the places are many, or a process came to one of them only once or twice.
std::size_t number_of_those_that_repeat(std::vector<schedule_step> const& steps, std::size_t from) {
  static constexpr std::size_t few_places = 100;
  static constexpr std::size_t again_and_again = 3;
  struct visited_place {
    schedule_step const* step;
    std::size_t times;
  };
  std::vector<visited_place> places;
  for (std::size_t i = from; i < steps.size(); ++i) {
    auto const is_here = [&](visited_place const& p) {
      return p.step->process == steps[i].process && p.step->operation == steps[i].operation &&
             p.step->where.line() == steps[i].where.line();
    };
    auto const known = std::ranges::find_if(places, is_here);
    if (known != places.end())
      ++known->times;
    else if (places.size() == few_places)
      return 0;
    else
      places.push_back({&steps[i], 1});
  }
  std::vector<process_id> who;
  for (auto const& p : places) {
    if (p.times < again_and_again) return 0;
    if (std::ranges::find(who, p.step->process) == who.end()) who.push_back(p.step->process);
  }
  return who.size();
}

}  // namespace

bool makes_no_progress(subject& program, schedule_path const& path, run_log& log) {
  std::size_t const cut_after = path.steps_if_cut();
  if (cut_after < fewest_steps_of_livelock ||
      cut_after > std::numeric_limits<std::size_t>::max() / 2)
    return false;
  change_watch again(path, cut_after);
  std::vector<schedule_step> steps;
  log.trace = &steps;
  (void)program.run(again, log, {2 * cut_after, path.grain()});
  log.trace = nullptr;
  if (!log.was_cut || again.uses_clock() || again.last_change() > cut_after) return false;
  return number_of_those_that_repeat(steps, cut_after) == again.ready_at_last();
}

}  // namespace weft::detail
