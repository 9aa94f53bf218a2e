// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "weft/sched/base/process_id.hpp"

/// Processes that need not be tried for now, and their accesses (dpor_strategy.hpp, DPOR-3).
namespace weft::detail {

struct named_touch {
  std::uint64_t name;  // from location_names
  bool is_written;
};

/// A process that need not be tried for now.  Its accesses lie in a list that all sleepers of a
/// search share: `count` of them, from `first` on.
struct sleeper {
  process_id id;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool conflicts_with_all = false;

  [[nodiscard]] std::span<named_touch const> touches(
      std::vector<named_touch> const& of_all) const noexcept {
    return {of_all.data() + first, count};
  }
};

/// Adds an access.  A location that is accessed twice counts as written if one of the accesses
/// writes it.
template <class Touch, class What>
void enter(std::vector<Touch>& all, Touch t, What what) {
  auto const it = std::ranges::find(all, t.*what, what);
  if (it == all.end())
    all.push_back(t);
  else
    it->is_written |= t.is_written;
}
inline bool conflict(std::span<named_touch const> a, std::span<named_touch const> b) noexcept {
  for (auto const& x : a)
    for (auto const& y : b)
      if (x.name == y.name && (x.is_written || y.is_written)) return true;
  return false;
}
inline bool is_asleep(std::vector<sleeper> const& all, process_id id) noexcept {
  return std::ranges::find(all, id, &sleeper::id) != all.end();
}

}  // namespace weft::detail
