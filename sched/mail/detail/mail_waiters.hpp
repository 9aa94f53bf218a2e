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

/// The messages after the first, for an operation that sends or receives as many as it can.
struct message_batch {
  std::byte* next;       // the next message to send, or the next object to receive a message in
  std::size_t left;      // how many messages are left to send, or objects to receive into
  std::size_t size;      // the size of a message in bytes
  std::size_t done = 0;  // how many were sent, or received

  void advance() noexcept { next += size, --left, ++done; }
};

/// Stands for a process that sends.  A send_waiter lies in the frame of its process, as does the
/// message until there is room for it.
class send_waiter {
 public:
  /// The answers to a mail::send_until.  If the inbox was destroyed, a mail::send is answered with
  /// false, and a mail::send_many with 0.
  static constexpr std::uint64_t too_late = 0;
  static constexpr std::uint64_t sent = 1;
  static constexpr std::uint64_t inbox_has_gone = 2;

  send_waiter(mailbox& b, void* m, bool timed = false) noexcept
      : box(&b), message(m), is_timed_(timed) {}
  /// For a send to a process id: the mailbox is looked up later.
  explicit send_waiter(void* m, bool timed = false) noexcept
      : box(nullptr), message(m), is_timed_(timed) {}
  send_waiter(send_waiter const&) = delete;  // the mailbox points to this object
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
  inline void leave() noexcept;
  bool const is_timed_;    // for a send_until: an alarm may take the process
  bool is_inside = false;  // this waiter is inside the mailbox (MAILBOX-5 of mailbox.hpp)
  send_waiter* next;
  send_waiter* previous;
};

inline waiter& waiter_of(send_waiter& s) noexcept { return s.parked; }

class receive_waiter;
/// One of the mailboxes at which a process receives.
struct select_case {
  mailbox* box;
  void* into;  // storage for the message
  receive_waiter* receiver;
  bool has_come = false;   // `into` holds a message
  bool is_inside = false;  // this case is inside the mailbox (MAILBOX-5 of mailbox.hpp)
};

/// Stands for a process that receives, at one mailbox or at several.  A receive_waiter lies in the
/// frame of its process.
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
  receive_waiter(receive_waiter const&) = delete;  // its cases, which mailboxes know, point to it
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
  std::atomic<bool> is_everywhere = false;  // set once all of several mailboxes were entered

 private:
  [[gnu::noinline]] void leave_all() noexcept {
    for (unsigned i = 0; i != count; ++i)
      if (first[i].is_inside) leave(first[i]);
  }
  static inline void leave(select_case& r) noexcept;
};

}  // namespace weft::detail
