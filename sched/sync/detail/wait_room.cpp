// SPDX-License-Identifier: MIT
#include "weft/sched/sync/detail/wait_room.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/base/detail/relax.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"

namespace weft::detail {

void wait_place::end(wait_room& r) noexcept { r.on_end(*this); }
void room_waiter::leave() noexcept {
  parked.leave_group();
  // A read, for explorers: a wake after the deadline may have taken the waiter off the list.
  if (is.is_timed) note_access(at, false);
  // [4] acquire: pairs with [3] of wait_room.hpp, as in the destructor.
  if (auto* const home = home_.load(std::memory_order_acquire)) home->on_end(*this);
}

void throw_other_scheduler() {
  throw std::logic_error("weft: processes of another scheduler wait at this gate");
}

void wait_room::wake(wait_place& at, std::size_t most, bool is_release) noexcept {
  bool const candidates = is_release && most == 1 && rules_.wakes_candidates;
  auto const locked = lock();
  // relaxed: under the lock.  Since the caller's read of the word, all waiters may have left, and
  // others may have come to the place in another room.
  if (at.word_.load(std::memory_order_relaxed) != word()) return;
  for (room_waiter *w = at.waiters_.first(), *next = nullptr; w && (most || candidates); w = next) {
    next = at.waiters_.next(*w);  // before the wake: the last process may destroy the place
    if (!most && w->is.is_in_line) continue;
    if (process* const p = leave(*w)) {
      sink_.make_ready(thunk(p, 1));
      if (most) --most;
    }
  }
}
void wait_room::on_open(wait_place& at) {
  auto const locked = lock();
  room_waiter& w = *at.waiters_.first();
  unlink_at(w, at);  // the process may destroy the event as soon as it is put
  process* const p = w.parked.take();
  if (!p) return unlink(w);
  thunk t(p, 1);
  try {
    sink_.put_from_outside(t, std::move(w.spare));
  } catch (...) {
    if (closed_) {  // close() has not found the process: so the process is cancelled here
      unlink(w);
      sink_.wake_cancelled(*t.release());
      throw;
    }
    // The process still waits, even if its alarm became due meanwhile and found no process.
    link_at(w, at);
    w.parked.hold(*t.release());
    at.word_.store(word(), std::memory_order_release);  // [9] release: as in begin_at_event()
    throw;
  }
  unlink(w);
}
process* wait_room::take(room_waiter& w) noexcept {
  auto const locked = lock();
  if (w.is.stays || !is_inside(w)) return nullptr;
  if (w.at) note_access(w.at, true);
  return leave(w);
}
void wait_room::on_end(wait_place& at) noexcept {
  note_access(&at, true);
  auto const locked = lock();
  for (room_waiter *w = nullptr, *last = nullptr; (w = at.waiters_.first()) && w != last;
       last = w) {
    spare_node in = std::move(w->spare);
    process* const p = leave(*w);
    if (!p) continue;
    fail_cancelled(*p);
    thunk t(p);
    if (rules_.is_open_to_others) {
      try {
        sink_.put_from_outside(t, std::move(in));  // any thread may destroy the event
        continue;
      } catch (...) {  // no memory; on a thread of the scheduler, make_ready() may need none
      }
    }
    sink_.make_ready(std::move(t));
  }
}
void wait_room::on_end(room_waiter& w) noexcept {
  process* cut_off = nullptr;
  {
    auto const locked = lock();
    if (is_inside(w)) {
      if (w.at) note_access(w.at, false);
      cut_off = leave(w);
    }
  }
  // [4] acquire: pairs with [3] of wait_room.hpp.  If a thread has just opened the event, this
  // waits until that thread has taken the waiter off (ROOM-4).
  for (relax wait; w.home_.load(std::memory_order_acquire); wait()) {
  }
  // If the process still waited, only its frames inside a handler are unwound, the operation among
  // them: the process is made ready, and finds that the handler has ended.
  if (cut_off) sink_.make_ready(thunk(cut_off));
}
void wait_room::cancel_all() noexcept {
  std::size_t left = 0;
  {
    auto const locked = lock();
    for (auto const* w = all_.first(); w; w = all_.next(*w)) ++left;
  }
  for (; left; --left) {
    process* taken = nullptr;
    {
      auto const locked = lock();
      if (all_.empty()) return;
      room_waiter& w = *all_.first();
      all_.move_to_back(w);
      if (!w.is.stays) taken = leave(w);
    }
    if (taken) sink_.wake_cancelled(*taken);
  }
}
void wait_room::close() noexcept {
  {
    auto const locked = lock();
    closed_ = true;
  }
  cancel_all();
}
void wait_room::reopen() noexcept {
  auto const locked = lock();
  closed_ = false;
}
void wait_room::drop_all() noexcept {
  for (relax wait;;) {
    process* dropped = nullptr;
    bool is_left = false;  // there is a waiter whose event was just opened (ROOM-4)
    {
      auto const locked = lock();
      for (room_waiter *w = all_.first(), *next = nullptr; w && !dropped; w = next) {
        next = all_.next(*w);
        dropped = leave(*w);
        is_left |= !dropped;
      }
    }
    if (dropped)
      (void)thunk(dropped);
    else if (is_left)
      wait();
    else
      return;
  }
}

// ---- under the lock

bool wait_room::begin_at_event(wait_place& at) {
  std::uintptr_t found = wait_place::nobody;
  // [9] release: pairs with [6] of external_event.cpp, which then sees the room.  acquire, if the
  // event is open: pairs with [6] too: the process sees what was done before the call of open().
  if (at.word_.compare_exchange_strong(found, word(), std::memory_order_release,
                                       std::memory_order_acquire))
    return true;
  if (found == wait_place::opened) return false;
  throw std::logic_error("weft: another process already waits for this external event");
}
bool wait_room::end_at_event(wait_place& at) noexcept {
  std::uintptr_t found = word();
  // [1] release: pairs with [2] of wait_place.hpp, as in end_at().
  return at.word_.compare_exchange_strong(found, wait_place::nobody, std::memory_order_release,
                                          std::memory_order_relaxed);
}
process* wait_room::leave(room_waiter& w) noexcept {
  process* const p = w.parked.take();
  if (wait_place* const at = w.at) {
    unlink_at(w, *at);
    if (!end_at(*at)) {  // a thread has just opened the event, and will take the waiter off
      link_at(w, *at);
      return p;
    }
  }
  unlink(w);
  return p;
}

}  // namespace weft::detail
