// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "sched/detail/scheduling_base.hpp"

/// Reports of those who wait: where nobody is left to wake them.
namespace weft::detail {

/// Each once, in the order of ids.
inline std::vector<deadlock::waiter> scheduling_base::all_who_wait() const {
  std::vector<deadlock::waiter> all;
  std::vector<process const*> seen;  // one may wait at several places
  auto const add = [&](process const& p, std::optional<holding> const* of = nullptr) {
    if (std::ranges::find(seen, &p) != seen.end()) return;
    seen.push_back(&p);
    deadlock::waiter& w = all.emplace_back(deadlock::waiter{p.id(), p.waits_at_text(), {}});
    if (of && *of) w.held_by = deadlock::holder{(*of)->process, weft::detail::text((*of)->since)};
  };
  for_each_who_waits(add);
  tasks_.for_each(add);
  office_->for_each_who_waits(add);
  admission_.for_each_who_waits([&](process const& p) {
    all.push_back({p.id(),
                   p.waits_at_text() + ", where it waits for room: there are " +
                       std::to_string(admission_.most()) + " processes",
                   {}});
  });
  std::ranges::sort(all, {}, &deadlock::waiter::process);
  return all;
}

}  // namespace weft::detail
