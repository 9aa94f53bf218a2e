// SPDX-License-Identifier: MIT
#include "weft/testing/random_walk.hpp"

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "weft/testing/detail/controlled_backend.hpp"
#include "weft/testing/detail/failure_page.hpp"
#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/detail/search.hpp"
#include "weft/testing/detail/walks.hpp"
#include "weft/testing/exploration.hpp"
#include "weft/testing/explore.hpp"

namespace weft::detail {

namespace {

/// Visits schedules, as the options say.
exploration walked(random_walk_options const& options, run_limits const& each, subject& program) {
  search s(program, {each, options.max_schedules, options.max_time, options.progress,
                     options.stop_at_failure});
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
  return std::move(s.found());
}

}  // namespace

exploration random_walk(random_walk_options const& options, subject& program) {
  if (options.depth == 0) throw std::invalid_argument("weft: pct has a depth of at least 1");
  run_limits const each{options.max_steps, options.granularity};
  exploration found = searched(program, [&] { return walked(options, each, program); });
  shrink_first_failure(program, each, found, options.max_shrinking_runs);
  write_page_of_failure(options.page, program, each, found);
  return found;
}

}  // namespace weft::detail
