// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/detail/search.hpp"
#include "weft/testing/exploration.hpp"
#include "weft/testing/random_walk.hpp"

namespace weft::detail {

/// Which random schedules are visited.
struct walk_plan {
  search_limits limits;
  std::uint64_t seed;
  walk_strategy by = walk_strategy::portfolio;
  std::size_t depth = 3;
  /// How many threads visit schedules.  With more than one, which failure is the first, and ends
  /// the search, differs from run to run.
  unsigned threads = 1;
};
/// Visits random schedules.  The result is not complete.
[[nodiscard]] exploration walk(subject& program, walk_plan const& plan);

}  // namespace weft::detail
