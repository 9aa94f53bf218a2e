// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <utility>

#include "weft/effects/operation.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/scheduled.hpp"
#include "weft/sched/base/time_span.hpp"
#include "weft/sched/sync/detail/timers.hpp"
#include "weft/sched/sync/detail/waiter.hpp"

namespace weft {

/// Time: a monotonic clock.  If the program is run with .virtual_time, the clock begins at
/// instant() and stands still while a process is ready; when all processes sleep, it jumps to the
/// earliest instant at which one of them wakes.
struct timing {
  static constexpr bool performed_by_processes = true;  // a task with this effect is not light
  /// Asks for the time.
  struct [[nodiscard("weft: co_await it")]] now : op<instant> {
    [[nodiscard("weft: co_await it")]] now() noexcept {}
  };
  /// Sleeps until that instant.  Processes that are ready run first, even if the instant is past.
  /// O(log n) in the sleeping processes.  No thread sleeps while a process is ready.
  struct [[nodiscard("weft: co_await it")]] sleep_until : op<void> {
    static constexpr detail::scheduling_rule scheduling{.step = detail::step_kind::ends,
                                                        .waits_in_frame = true};
    [[nodiscard("weft: co_await it")]] explicit sleep_until(instant t) noexcept
        : until(t, parked) {}
    sleep_until(sleep_until&& other) noexcept : until(other.until.at(), parked) {}
    detail::waiter parked;
    detail::alarm until;
    friend std::size_t hash_value(sleep_until const& s) {
      return static_cast<std::size_t>(s.until.at().time_since_epoch().count());
    }
  };
  /// Sleeps for that duration, of any unit.  A duration beyond the clock's range lasts for ever.
  struct [[nodiscard("weft: co_await it")]] sleep_for : op<void> {
    static constexpr detail::scheduling_rule scheduling{.step = detail::step_kind::ends,
                                                        .waits_in_frame = true};
    [[nodiscard("weft: co_await it")]] explicit sleep_for(time_span d) noexcept
        : time(d), until({}, parked) {}
    sleep_for(sleep_for&& other) noexcept : time(other.time), until({}, parked) {}
    instant::duration time;
    detail::waiter parked;
    detail::alarm until;
    friend std::size_t hash_value(sleep_for const& s) {
      return static_cast<std::size_t>(s.time.count());
    }
  };
  using operations = op_list<now, sleep_until, sleep_for>;
};

}  // namespace weft
