// SPDX-License-Identifier: MIT
#include "weft/sched/sync/gate.hpp"

#include <atomic>
#include <cstddef>
#include <string>

#include "weft/effects/detail/internal.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/detail/location_listener.hpp"

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
void gate::release_now(detail::internal) noexcept {
  detail::note_access(this, true);
  // [8] seq_cst: pairs with [7] of gate_table: either this thread sees the home that a process
  // has set, or that process sees the new epoch.  Also a release: a process that finds a greater
  // epoch [1] sees what was done before.
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  // seq_cst: as above.
  if (auto* const home = home_.load(std::memory_order_seq_cst)) home->on_release(*this, false);
}
void gate::release_all_now(detail::internal) noexcept {
  detail::note_access(this, true);
  epoch_.fetch_add(1, std::memory_order_seq_cst);  // [8], as above
  // seq_cst: as above.
  if (auto* const home = home_.load(std::memory_order_seq_cst)) home->on_release(*this, true);
}

}  // namespace weft
