// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "sched/sync/detail/timers.hpp"
#include "sched/sync/detail/waiter.hpp"

/// Senders and receivers, as a mailbox sees them while they wait there.
namespace weft::detail {

class mailbox;

/// A sending process: part of its operation.  The message stays there until there is room.
class send_waiter {
 public:
  /// Answers to a send with a deadline.  A send without one is answered with false if the inbox was
  /// destroyed.
  static constexpr std::uint64_t too_late = 0;
  static constexpr std::uint64_t sent = 1;
  static constexpr std::uint64_t inbox_has_gone = 2;

  send_waiter(mailbox& b, void* m, bool timed = false) noexcept
      : box(&b), message(m), is_timed_(timed) {}
  /// The mailbox is looked up later.
  explicit send_waiter(void* m, bool timed = false) noexcept
      : box(nullptr), message(m), is_timed_(timed) {}
  send_waiter(send_waiter const&) = delete;  // the mailbox points to it
  send_waiter& operator=(send_waiter const&) = delete;
  ~send_waiter() {
    if (is_inside) [[unlikely]]
      leave();
  }

  mailbox* box;
  void* message;
  waiter parked;

 private:
  friend class mailbox;
  inline void leave() noexcept;
  bool const is_timed_;    // its alarm may take it
  bool is_inside = false;  // in the mailbox; set by its process, reset by its taker
  send_waiter* next;
  send_waiter* previous;
};

inline waiter& waiter_of(send_waiter& s) noexcept { return s.parked; }

class receive_waiter;
/// One of the mailboxes at which a process receives.
struct select_case {
  mailbox* box;
  void* into;  // where to put the message
  receive_waiter* of;
  bool has_come = false;   // the message is there
  bool is_inside = false;  // as in send_waiter
};

/// A receiving process, at one mailbox or at several: part of its operation.
class receive_waiter {
 public:
  /// Answers that are no number of a case; those count from 1.
  static constexpr std::uint64_t too_late = 0;
  static constexpr std::uint64_t no_senders_left = ~std::uint64_t{0};

  receive_waiter(select_case* places, unsigned n, alarm* a = nullptr) noexcept
      : first(places), count(n), until(a) {
    for (unsigned i = 0; i != n; ++i) places[i].of = this;
  }
  receive_waiter(receive_waiter const&) = delete;  // mailboxes point to its cases
  receive_waiter& operator=(receive_waiter const&) = delete;
  ~receive_waiter() {
    for (unsigned i = 0; i != count; ++i)
      if (first[i].is_inside) [[unlikely]]
        leave(first[i]);
  }
  [[nodiscard]] inline bool has_looked_everywhere() const noexcept;
  [[nodiscard]] inline bool may_get_more() const noexcept;

  select_case* first;
  unsigned count;
  alarm* until;  // null to wait for ever
  waiter parked;
  std::atomic<bool> is_everywhere = false;  // it has entered all of its mailboxes, if several

 private:
  static inline void leave(select_case& r) noexcept;
};

}  // namespace weft::detail
