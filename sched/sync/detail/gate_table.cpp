// SPDX-License-Identifier: MIT
#include "weft/sched/sync/detail/gate_table.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/sync/gate.hpp"

namespace weft::detail {

void gate_table::wake(gate& g, std::size_t most) {
  auto const locked = lock();
  require_ours(g);
  note_access(&g, true);
  // [2] release: pairs with [1] of gate.hpp: a process that finds a greater epoch sees what was
  // done before the wake.
  g.epoch_.fetch_add(1, std::memory_order_release);
  wake_longest_waiting(g, most);
}
process* gate_table::take(gate_waiter& w) noexcept {
  auto const locked = lock();
  if (!w.home_.load(std::memory_order_relaxed)) return nullptr;  // relaxed: set under the lock
  note_access(w.at, true);
  return leave(w);
}
void gate_table::cancel_all() noexcept {
  auto const locked = lock();
  while (gates_)
    if (process* const p = leave(*gates_->first_)) sink_.make_cancelled(*p);
}
void gate_table::drop_all() noexcept {
  while (gates_)
    if (process* const p = leave(*gates_->first_)) (void)thunk(p);
}
void gate_table::on_release(gate& g, bool to_all) noexcept {
  auto const locked = lock();
  if (home_of(g) != this) return;
  if (to_all || wakes_ == 1) return wake_longest_waiting(g, to_all ? ~std::size_t{0} : 1);
  wake_candidates(g);
}
void gate_table::on_end(gate& g) noexcept {
  auto const locked = lock();
  while (g.first_)
    if (process* const p = leave(*g.first_)) {
      fail_cancelled(*p);
      sink_.make_ready(thunk(p, 1));
    }
}
void gate_table::on_end(gate_waiter& w) noexcept {
  process* cut_off = nullptr;
  {
    auto const locked = lock();
    if (w.home_.load(std::memory_order_relaxed)) cut_off = leave(w);  // relaxed: under the lock
  }
  // The process still waits, and only the frames inside a handler were unwound, with the
  // operation: it is put, and finds that the handler has ended.
  if (cut_off) sink_.make_ready(thunk(cut_off));
}
void gate_table::require_ours(gate const& g) const {
  if (home_of(g) && home_of(g) != this)
    throw std::logic_error("weft: processes of another scheduler wait at this gate");
}
void gate_table::link(gate& g) noexcept {
  // [7] seq_cst: as in enter().  A release that finds this home takes the lock.
  g.home_.store(this, std::memory_order_seq_cst);
  g.previous_ = nullptr;
  g.next_ = std::exchange(gates_, &g);
  if (g.next_) g.next_->previous_ = &g;
}
void gate_table::unlink(gate& g) noexcept {
  (g.previous_ ? g.previous_->next_ : gates_) = g.next_;
  if (g.next_) g.next_->previous_ = g.previous_;
  // [5] release: the last access to the gate here.  ~gate() reads this null without the lock, and
  // then sees all accesses before ([6] of gate.hpp).
  g.home_.store(nullptr, std::memory_order_release);
}
void gate_table::wake_longest_waiting(gate& g, std::size_t most) noexcept {
  for (bool is_last = !g.first_; most && !is_last;) {
    is_last = !g.first_->next_;  // read now: the last process that waited may destroy the gate
    if (process* const p = leave(*g.first_)) {
      sink_.make_ready(thunk(p, 1));
      --most;
    }
  }
}
void gate_table::wake_candidates(gate& g) noexcept {
  bool has_first = false;
  for (gate_waiter *w = g.first_, *next = nullptr; w; w = next) {
    next = w->next_;  // read now, as above
    if (w->is_in_line && has_first) continue;
    if (process* const p = leave(*w)) {
      sink_.make_ready(thunk(p, 1));
      has_first = true;
    }
  }
}
process* gate_table::leave(gate_waiter& w) noexcept {
  gate& g = *w.at;
  process* const p = w.parked.take();
  (w.previous_ ? w.previous_->next_ : g.first_) = w.next_;
  (w.next_ ? w.next_->previous_ : g.last_) = w.previous_;
  count(g, -1);
  if (!g.first_) unlink(g);
  // [9] release: the last access to the waiter here.  Its destructor reads this null without the
  // lock, and then sees all accesses before ([10] of gate.hpp).
  w.home_.store(nullptr, std::memory_order_release);
  return p;
}

}  // namespace weft::detail
