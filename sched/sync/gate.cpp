// SPDX-License-Identifier: MIT
#include "weft/sched/sync/gate.hpp"

#include <atomic>
#include <cstddef>
#include <string>

#include "weft/effects/detail/internal.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/sync/detail/wait_room.hpp"

namespace weft {

std::string detail::text_of_waiters(std::size_t n) {
  return std::to_string(n) + (n == 1 ? " process waits" : " processes wait");
}

void gate::release() noexcept {
  detail::cause_event("the release of a gate", this, [this] { release_now(detail::internal()); });
}
void gate::release_all() noexcept {
  detail::cause_event("the release of a gate", this,
                      [this] { release_all_now(detail::internal()); });
}
void gate::release_now(detail::internal) noexcept { wake(1, true); }
void gate::release_all_now(detail::internal) noexcept { wake(~std::size_t{0}, true); }
void gate::wake(detail::internal, detail::wait_room const& here, std::size_t most) {
  // relaxed: while the gate is used, all processes that wait are of one scheduler, this one or
  // another.  So an older value of the word names the room of the same scheduler, or none.
  auto const found = word_.load(std::memory_order_relaxed);
  if (found > opened && room_in(found) != &here) detail::throw_other_scheduler();
  wake(most, false);
}
void gate::wake(std::size_t most, bool is_release) noexcept {
  detail::note_access(this, true);
  // [8] seq_cst: comes before the read of the word; pairs with [5] of wait_room.hpp: either this
  // thread sees the room that a process has set, or that process sees the new epoch.  Also a
  // release, for [7] of gate.hpp: a process that finds a greater epoch sees what was done before.
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  // seq_cst: comes after [8].
  if (auto const found = word_.load(std::memory_order_seq_cst); found > opened)
    room_in(found)->wake(*this, most, is_release);
}

}  // namespace weft
