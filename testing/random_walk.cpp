// SPDX-License-Identifier: MIT
#include "weft/testing/random_walk.hpp"

#include <stdexcept>

#include "weft/testing/detail/failure_page.hpp"
#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/detail/search.hpp"
#include "weft/testing/detail/walking.hpp"
#include "weft/testing/exploration.hpp"
#include "weft/testing/explore.hpp"

namespace weft::detail {

exploration random_walk(random_walk_options const& options, subject& program) {
  if (options.depth == 0) throw std::invalid_argument("weft: pct has a depth of at least 1");
  run_limits const each{options.max_steps, options.granularity};
  unsigned const threads = threads_of(options.threads);
  walk_plan const plan{
      {each, options.max_schedules, options.max_time, options.progress, options.stop_at_failure},
      options.seed,
      options.by,
      options.depth,
      threads};
  exploration found = searched(program, [&] { return walk(program, plan); });
  found.covered.granularity = options.granularity;
  shrink_first_failure(program, each, found, options.max_shrinking_runs);
  write_page_of_failure(options.page, program, each, found);
  return found;
}

}  // namespace weft::detail
