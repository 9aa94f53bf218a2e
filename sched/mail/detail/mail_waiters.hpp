// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/sched/sync/detail/timers.hpp"
#include "weft/sched/sync/detail/waiter.hpp"

/// Senders and receivers, as a mailbox sees them while they wait there.
namespace weft::detail {

class mailbox;
class mailbox_queue;

/// The messages after the first, if an operation sends or receives as many as it can.
struct message_batch {
  std::byte* next;       // the next message to send, or the next object to receive a message in
  std::size_t left;      // how many there are
  std::size_t size;      // of a message, in bytes
  std::size_t done = 0;  // how many were sent, or received

  void advance() noexcept { next += size, --left, ++done; }
};

/// A process that sends.  It lies in the frame of the process, as does the message until there is
/// room for it.
class send_waiter {
 public:
  /// Answers to a send with a deadline.  A send without a deadline is answered with false if the
  /// inbox was destroyed.
  static constexpr std::uint64_t too_late = 0;
  static constexpr std::uint64_t sent = 1;
  static constexpr std::uint64_t inbox_has_gone = 2;

  send_waiter(mailbox& b, void* m, bool timed = false) noexcept
      : box(&b), message(m), is_timed_(timed) {}
  /// For a send to a process id: the mailbox is looked up later.
  explicit send_waiter(void* m, bool timed = false) noexcept
      : box(nullptr), message(m), is_timed_(timed) {}
  send_waiter(send_waiter const&) = delete;  // the mailbox points to it
  send_waiter& operator=(send_waiter const&) = delete;
  ~send_waiter() {
    parked.leave_group();
    if (is_inside) [[unlikely]]
      leave();
  }

  mailbox* box;
  void* message;
  waiter parked;

 private:
  friend class mailbox;
  friend class mailbox_queue;
  class mailbox_queue;
  inline void leave() noexcept;
  bool const is_timed_;    // has a deadline: its alarm may take the process
  bool is_inside = false;  // in the mailbox; set by its process, reset by a taker
  send_waiter* next;
  send_waiter* previous;
};

inline waiter& waiter_of(send_waiter& s) noexcept { return s.parked; }

class receive_waiter;
/// One of the mailboxes at which a process receives.
struct select_case {
  mailbox* box;
  void* into;  // where to put the message
  receive_waiter* receiver;
  bool has_come = false;   // `into` has a message
  bool is_inside = false;  // as in send_waiter
};

/// A process that receives, at one mailbox or at several.  It lies in the frame of the process.
class receive_waiter {
 public:
  /// Answers other than the number of a case, which is 1 or more.  `too_late` is also the answer if
  /// the inbox was destroyed.
  static constexpr std::uint64_t too_late = 0;
  static constexpr std::uint64_t no_senders_left = ~std::uint64_t{0};

  receive_waiter(select_case* places, unsigned n, alarm* a = nullptr) noexcept
      : first(places), count(n), until(a) {
    for (unsigned i = 0; i != n; ++i) places[i].receiver = this;
  }
  receive_waiter(receive_waiter const&) = delete;  // mailboxes point to its cases
  receive_waiter& operator=(receive_waiter const&) = delete;
  ~receive_waiter() {
    parked.leave_group();
    if (count != 1 || first->is_inside) [[unlikely]]
      leave_all();
  }
  [[nodiscard]] inline bool has_looked_everywhere() const noexcept;
  [[nodiscard]] inline bool may_get_more() const noexcept;

  select_case* first;
  unsigned count;
  alarm* until;  // null if there is no deadline
  waiter parked;
  std::atomic<bool> is_everywhere = false;  // has entered all its mailboxes, if several

 private:
  [[gnu::noinline]] void leave_all() noexcept {
    for (unsigned i = 0; i != count; ++i)
      if (first[i].is_inside) leave(first[i]);
  }
  static inline void leave(select_case& r) noexcept;
};

}  // namespace weft::detail
