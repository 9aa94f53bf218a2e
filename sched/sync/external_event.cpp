// SPDX-License-Identifier: MIT
#include "weft/sched/sync/external_event.hpp"

#include <atomic>

#include "weft/effects/detail/internal.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/sync/detail/wait_room.hpp"

namespace weft {

void external_event::open_now(detail::internal) {
  detail::note_access(this, true);
  // [6] release: pairs with [10] of external_event.hpp and [9] of wait_room.cpp: a process that
  // finds the event open sees what was done before.  acquire: pairs with [9]: this thread sees the
  // room.
  auto const found = word_.exchange(opened, std::memory_order_acq_rel);
  if (found > opened) room_in(found)->on_open(*this);
}

}  // namespace weft
