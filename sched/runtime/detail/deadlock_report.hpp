// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sched/runtime/detail/scheduling_base.hpp"

/// Reports of those who wait: where nobody is left to wake them.
namespace weft::detail {

/// Each once, in the order of ids.
inline std::vector<deadlock::waiter> scheduling_base::all_who_wait() const {
  std::vector<deadlock::waiter> all;
  std::vector<process const*> seen;  // one may wait at several places
  auto const add = [&](process const& p, gate const* at = nullptr) {
    if (std::ranges::find(seen, &p) != seen.end()) return;
    seen.push_back(&p);
    deadlock::waiter& w = all.emplace_back(deadlock::waiter{p.id(), p.waits_at_text(), {}});
    if (at) at->describe(w);
  };
  for_each_who_waits(add);
  tasks_.for_each(add);
  registry_->for_each_who_waits(add);
  admission_.for_each_who_waits([&](process const& p) {
    all.push_back({p.id(),
                   p.waits_at_text() + ", where it waits for room: there are " +
                       std::to_string(admission_.most()) + " processes",
                   {}});
  });
  std::ranges::sort(all, {}, &deadlock::waiter::process);
  return all;
}

inline std::string scheduling_base::who_waits() const {
  auto const all = all_who_wait();
  if (all.empty()) return "a process that waited has been woken, and has not gone on yet";
  return "process " + all.front().process.text() + " waits in " + all.front().text();
}

inline cancelled scheduling_base::why_with_others() noexcept {
  return cancelled("weft: cancelled, since the tasks are that this is done for");
}

}  // namespace weft::detail
