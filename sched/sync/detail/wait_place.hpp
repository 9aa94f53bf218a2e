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
/// Tags of the two lists on which a waiter in a room is: of all waiters there, and of its place.
struct in_room;
struct at_place;

/// What processes of a scheduler wait for: a gate, an external event, a task.  A base class.
class wait_place {
 public:
  wait_place(wait_place const&) = delete;
  wait_place& operator=(wait_place const&) = delete;

 protected:
  static constexpr std::uintptr_t nobody = 0;
  static constexpr std::uintptr_t opened = 1;  // only of an external event

  constexpr wait_place() noexcept = default;
  ~wait_place() = default;
  /// Called by the destructor.  If processes wait, they find `cancelled`.
  void end() noexcept {
    // [2] acquire: pairs with [1] of wait_room.hpp.  If this finds no room, the room has done its
    // last access to the place.
    if (auto const found = word_.load(std::memory_order_acquire); found > opened)
      end(*room_in(found));
  }
  [[nodiscard]] static wait_room* room_in(std::uintptr_t word) noexcept {
    return reinterpret_cast<wait_room*>(word);
  }

  /// Of a gate or an external event: the address of the room, while a process waits (ROOM-2, ROOM-4).
  std::atomic<std::uintptr_t> word_ = nobody;

 private:
  friend class wait_room;
  void end(wait_room& r) noexcept;

  intrusive_list<room_waiter, at_place> waiters_;  // the longest waiting first

 protected:
  std::atomic<std::uint32_t> count_ = 0;  // of the waiters
};

/// A process that waits in a room.  It lies in the frame of the process.
class room_waiter : public list_entry<room_waiter, in_room>,
                    public list_entry<room_waiter, at_place> {
 public:
  struct traits {
    bool is_in_line = true;  // the order of arrival matters
    bool is_timed = false;   // another party than the room may take the process
    bool stays = false;      // it waits on, even if it is cancelled
  };
  explicit room_waiter(wait_place* p) noexcept : room_waiter(p, traits()) {}
  room_waiter(wait_place* p, traits t) noexcept : at(p), is(t) {}
  room_waiter(room_waiter&& other) noexcept : room_waiter(other.at, other.is) {}  // before it waits
  room_waiter& operator=(room_waiter&&) = delete;
  ~room_waiter() {
    // One branch: most waiters that end have been woken, and have left.
    // [4] acquire: pairs with [3] of wait_room.hpp.  If this reads null, the room has done its last
    // access to the waiter.
    if (parked.is_in_group() || is.is_timed || home_.load(std::memory_order_acquire)) [[unlikely]]
      leave();
  }

  wait_place* at;  // null: only in the room
  traits const is;
  waiter parked;
  wait_room* room;   // if it is in a group: in which it is about to wait
  spare_node spare;  // memory to put the process from outside, reserved before it waits

 private:
  friend class wait_room;
  void leave() noexcept;
  std::atomic<wait_room*> home_ = nullptr;  // set while it is in the room; written under the lock
};

}  // namespace weft::detail
