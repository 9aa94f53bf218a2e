// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/reports/deadlock_report.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "weft/effects/detail/internal.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/runtime/detail/wait_registry.hpp"
#include "weft/sched/sync/gate.hpp"

namespace weft::detail {

std::vector<deadlock::waiter> waiters_of(wait_registry& waits) {
  std::vector<deadlock::waiter> all;
  std::vector<process const*> seen;  // a process may wait on several lists
  auto const add = [&](process const& p, gate const* at = nullptr) {
    if (p.id().is_internal() || std::ranges::find(seen, &p) != seen.end()) return;
    seen.push_back(&p);
    deadlock::waiter& w =
        all.emplace_back(deadlock::waiter{p.id(), p.waits_at_text(), {}, {}, p.function()});
    if (at) at->describe(internal(), w);
  };
  waits.gates.for_each_waiter(
      [&](process const& p, wait_place const* at) { add(p, static_cast<gate const*>(at)); });
  waits.alarms.for_each_waiter(add);
  auto const in_a_room = [&](process const& p, wait_place const*) { add(p); };
  waits.external.for_each_waiter(in_a_room);
  waits.tasks.for_each_waiter(in_a_room);
  waits.mail().for_each_waiter(add);
  waits.room.for_each_waiter([&](process const& p) {
    all.push_back({p.id(),
                   p.waits_at_text() + ", where it waits for room: there are " +
                       std::to_string(waits.room.most()) + " processes",
                   {},
                   {},
                   p.function()});
  });
  std::ranges::sort(all, {}, &deadlock::waiter::process);
  return all;
}

}  // namespace weft::detail
