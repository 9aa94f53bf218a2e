// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "weft/sched/base/detail/injection_node.hpp"
#include "weft/sched/base/detail/intrusive_list.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/sync/detail/waiter.hpp"

namespace weft::detail {

class room_waiter;
class wait_room;
/// Tags of the two lists on which a room_waiter is: that of its room, and that of its place.
struct in_room;
struct at_place;

/// The base class of the objects for which processes wait: a gate, an external event, a task.
class wait_place {
 public:
  wait_place(wait_place const&) = delete;
  wait_place& operator=(wait_place const&) = delete;

 protected:
  static constexpr std::uintptr_t nobody = 0;
  static constexpr std::uintptr_t opened = 1;  // only in an external event

  constexpr wait_place() noexcept = default;
  ~wait_place() = default;
  /// Called by the destructor: processes that still wait find `cancelled`.
  void end() noexcept {
    // [2] acquire: pairs with [1] of wait_room.hpp.  If this finds no room, the room has done its
    // last access to the place.
    if (auto const found = word_.load(std::memory_order_acquire); found > opened)
      end(*room_in(found));
  }
  [[nodiscard]] static wait_room* room_in(std::uintptr_t word) noexcept {
    return reinterpret_cast<wait_room*>(word);
  }

  /// In a gate or an external event: the address of the room while a process waits, else `nobody`
  /// or `opened` (ROOM-2, ROOM-4).
  std::atomic<std::uintptr_t> word_ = nobody;

 private:
  friend class wait_room;
  void end(wait_room& r) noexcept;

  intrusive_list<room_waiter, at_place> waiters_;  // the longest waiting first

 protected:
  std::atomic<std::uint32_t> count_ = 0;  // the number of waiters
};

/// Stands for a process that waits in a room.  A room_waiter lies in the frame of its process.
class room_waiter : public list_entry<room_waiter, in_room>,
                    public list_entry<room_waiter, at_place> {
 public:
  struct traits {
    bool is_in_line = true;  // the process waits in line: the order of arrival matters
    bool is_timed = false;   // the process has an alarm, which may take it
    bool stays = false;      // a cancellation does not end the wait
  };
  explicit room_waiter(wait_place* p) noexcept : room_waiter(p, traits()) {}
  room_waiter(wait_place* p, traits t) noexcept : at(p), is(t) {}
  /// Called only before the wait begins.
  room_waiter(room_waiter&& other) noexcept : room_waiter(other.at, other.is) {}
  room_waiter& operator=(room_waiter&&) = delete;
  ~room_waiter() {
    // One branch in the common case: a waiter that was woken has left the room already.
    // [4] acquire: pairs with [3] of wait_room.hpp.  If this reads null, the room has done its last
    // access to the waiter.
    if (parked.is_in_group() || is.is_timed || home_.load(std::memory_order_acquire)) [[unlikely]]
      leave();
  }

  wait_place* at;  // null if the waiter is at no place, only in the room
  traits const is;
  waiter parked;
  wait_room* room;   // set if the waiter is in a group: the room that it enters
  spare_node spare;  // memory for a put from outside the scheduler, reserved before the wait

 private:
  friend class wait_room;
  void leave() noexcept;
  std::atomic<wait_room*> home_ = nullptr;  // set while this is in the room; written under the lock
};

}  // namespace weft::detail
