// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/operation.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/scheduled.hpp"
#include "weft/sched/mail/detail/batch_awaitables.hpp"
#include "weft/sched/mail/detail/mail_awaitable.hpp"
#include "weft/sched/mail/detail/mail_waiters.hpp"
#include "weft/sched/mail/detail/mailbox.hpp"
#include "weft/sched/mail/detail/mailbox_registry.hpp"
#include "weft/sched/mail/detail/receive_awaitables.hpp"
#include "weft/sched/mail/detail/send_awaitables.hpp"
#include "weft/sched/mail/detail/typed_mailbox.hpp"

namespace weft {

/// Sending and receiving: the operations that the ends of ports perform.  Only the ends depend on
/// the type of the messages; the operations do not.  A scheduler's clauses:
/// detail/mail_clauses.hpp.
struct mail {
  static constexpr bool performed_by_processes = true;  // a task with this effect is not light
  /// Asks for the registry of mailboxes, which each new mailbox enters.
  struct [[nodiscard("weft: co_await it")]] open : op<detail::mailbox_registry*, seals> {
    [[nodiscard("weft: co_await it")]] open() noexcept {}
  };
  /// Sends a message.  The answer is false if the inbox was destroyed.
  struct [[nodiscard("weft: co_await it")]] send : op<bool> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_try;
    [[nodiscard("weft: co_await it")]] explicit send(detail::send_waiter& s) noexcept
        : waiter(&s) {}
    detail::send_waiter* waiter;                              // lies in the awaiting frame
    friend std::size_t hash_value(send const&) { return 0; }  // 0: pointers differ from run to run
  };
  /// Sends a message, then more, while there is room for them and no process waits for a message,
  /// to which the sender might hand over.  The answer is the number of messages that were sent.
  struct [[nodiscard("weft: co_await it")]] send_many : op<std::uint64_t> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_try;
    [[nodiscard("weft: co_await it")]] send_many(detail::send_waiter& s,
                                                 detail::message_batch& b) noexcept
        : waiter(&s), more(&b) {}
    detail::send_waiter* waiter;  // lies in the awaiting frame, like the batch
    detail::message_batch* more;
    friend std::size_t hash_value(send_many const&) { return 0; }
  };
  /// Sends a message, and waits for room for it until an instant at the latest.  The answer is
  /// send_waiter::sent, too_late or inbox_has_gone (namespace detail).
  struct [[nodiscard("weft: co_await it")]] send_until : op<std::uint64_t> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_try;
    /// `a`: the alarm; null if there is no deadline.  `may_wait`: false if the message is to be
    /// sent at once or not at all.
    [[nodiscard("weft: co_await it")]] send_until(detail::send_waiter& s, detail::alarm* a,
                                                  bool may_wait) noexcept
        : waiter(&s), until(a), waits(may_wait) {}
    detail::send_waiter* waiter;  // lies in the awaiting frame, like the alarm
    detail::alarm* until;
    bool waits;
    friend std::size_t hash_value(send_until const&) { return 0; }
  };
  /// Receives a message from one mailbox, or from one of several.  The answer is the number of that
  /// mailbox, counted from 1; or receive_waiter::too_late or no_senders_left (namespace detail).  A
  /// receive with a batch, at one mailbox, also takes the messages behind the first, unless the
  /// process has had to wait.
  struct [[nodiscard("weft: co_await it")]] receive : op<std::uint64_t, seals> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_try;
    [[nodiscard("weft: co_await it")]] receive(detail::receive_waiter& r, bool may_wait,
                                               detail::message_batch* b = nullptr) noexcept
        : waiter(&r), more(b), waits(may_wait) {}
    detail::receive_waiter* waiter;  // lies in the awaiting frame, like the batch
    detail::message_batch* more;
    bool waits;
    friend std::size_t hash_value(receive const&) { return 0; }
  };
  using operations = op_list<open, send, send_many, send_until, receive>;
};

namespace detail {
struct mailbox_access;
}  // namespace detail

template <class M>
class inbox;
template <class M>
class address;
template <class M>
struct ports;

/// The outcome of send_until() and try_send().
enum class delivery : unsigned char {
  sent,      ///< The message is in the mailbox, or has been received.
  too_late,  ///< There was no room until the deadline.
  no_inbox   ///< The inbox was destroyed, or the receiving process has none for such messages.
};
/// The result of send_until() and try_send().  It gives back a message that was not sent.
///
///     auto result = co_await to.send_until(soon, std::move(letter));
///     if (!result) keep(std::move(*result.unsent));
template <class M>
struct [[nodiscard]] send_result {
  delivery what = delivery::sent;  ///< The outcome.
  std::optional<M> unsent;         ///< The message if it was not sent.
  [[nodiscard]] explicit operator bool() const noexcept { return what == delivery::sent; }
};

/// The options with which a port is opened.
struct port_options {
  /// How many messages the mailbox can hold: at least 1.  A sender waits while the mailbox is full.
  std::size_t capacity = std::numeric_limits<std::size_t>::max();
};

/// Opens a port: auto [in, to] = co_await open<int>();
///
/// Row: `mail`.
/// Two allocations: the mailbox, from the pool; and the message buffer, when the first message is
/// stored.  The buffer grows when more messages are stored than ever before.  Seals: a process that
/// has opened a port can no longer fork.  Throws bad_alloc; std::logic_error if the capacity is
/// zero.
template <class M>
[[nodiscard("weft: co_await it")]] awaits_to<ports<M>> auto open(port_options o = {}) {
  if (o.capacity == 0) throw std::logic_error("weft: a port must have a capacity of at least 1");
  return detail::open_awaitable<M>(o.capacity);
}

/// The receiving end of a port, for one process.  Movable, not copyable.  When the inbox is
/// destroyed, its unread messages are destroyed with it, and a send yields `false` from then on.
/// Unread messages are also destroyed when the scheduler ends, as no process can receive them any
/// more.  Until that time an inbox that was sent to its own address stays alive, and so do two
/// inboxes of which each was sent to an address of the other.
///
/// Each operation seals: the process can no longer fork.  Await each operation in the expression
/// that creates it; the inbox must outlive the operation.  On several threads, one process at a
/// time may use the inbox.  Each operation throws std::logic_error if the inbox was moved from, or
/// was opened in another scheduler; an operation that has to wait, also if another process waits at
/// the inbox.  Each operation is O(1); allocates nothing.  Row: `mail`.
template <class M>
class [[nodiscard]] inbox {
 public:
  inbox(inbox&& other) noexcept : box_(std::exchange(other.box_, nullptr)) {}
  inbox& operator=(inbox other) noexcept {
    std::swap(box_, other.box_);
    return *this;
  }
  ~inbox() {
    if (box_) detail::cause_event("the end of an inbox", nullptr, [b = box_] { b->close(); });
  }

  /// Waits for a message; `co_await` yields it.  Messages of one sender arrive in the order in
  /// which they were sent.  A message that is there already is received at once; the 128th such
  /// message in a row ends the step of the process, as a yield does.  Throws no_senders if there is
  /// no message, and no address is left.
  [[nodiscard("weft: co_await it")]] awaits_to<M> auto receive() {
    return detail::direct_receive<M, detail::receive_or_throw<M>>(required());
  }
  /// Receives as receive() does, but yields an empty optional instead of throwing no_senders:
  ///     for (auto m = co_await in.next(); m; m = co_await in.next())
  [[nodiscard("weft: co_await it")]] awaits_to<std::optional<M>> auto next() {
    return detail::direct_receive<M, detail::receive_next<M>>(required());
  }
  /// Waits for a message until `t` at the latest; `co_await` yields it, or an empty optional if
  /// none has come by then.  Throws as receive() does.  O(log n) in the waiters with a deadline.
  [[nodiscard("weft: co_await it")]] awaits_to<std::optional<M>> auto receive_until(instant t) {
    return detail::receive_until_awaitable<M>(t, required());
  }
  /// `co_await` yields a message that is there already, or an empty optional.
  [[nodiscard("weft: co_await it")]] awaits_to<std::optional<M>> auto try_receive() {
    return detail::direct_receive<M, detail::receive_now<M>>(required());
  }

  /// Receives the messages that are there, at most as many as `into` has objects; if there is none,
  /// waits for one, and receives only that one.  `co_await` yields their number, or 0 if no sender
  /// is left.  The messages replace the first objects of `into`.  A process that is cancelled while
  /// it waits has received none, so no message is lost.  Each message counts in the 128 of
  /// receive().  Throws std::logic_error if `into` is empty.
  ///
  ///     std::array<int, 64> some;
  ///     for (std::size_t n = co_await in.receive_many(some); n != 0;
  ///          n = co_await in.receive_many(some))
  ///       for (int const m : std::span(some).first(n)) ...
  ///
  /// O(n) in the messages; allocates nothing.
  [[nodiscard("weft: co_await it")]] awaits_to<std::size_t> auto receive_many(std::span<M> into) {
    return detail::receive_many_awaitable<M>(required(), into);
  }

  /// Makes an address, also after all earlier addresses were destroyed.
  [[nodiscard]] address<M> get_address() { return address<M>(required()); }

 private:
  template <class T>
  friend struct ports;
  friend detail::mailbox_access;
  explicit inbox(detail::typed_mailbox<M>* b) noexcept : box_(b) {}

  [[nodiscard]] detail::typed_mailbox<M>& required() const {
    if (!box_) throw std::logic_error("weft: an inbox was used after it was moved from");
    return *box_;
  }

  detail::typed_mailbox<M>* box_;
};

/// The sending end of a port.  A value: copies are counted, and when the last one is destroyed the
/// receiver is told that no sender is left.  If the scheduler has several threads, an address is as
/// thread safe as an int; if it has one thread, only that thread may use the address.  Row: `mail`.
template <class M>
class address {
 public:
  address(address const& other) noexcept : box_(other.box_) {
    if (box_) box_->add_address();
  }
  address(address&& other) noexcept : box_(std::exchange(other.box_, nullptr)) {}
  address& operator=(address other) noexcept {
    std::swap(box_, other.box_);
    return *this;
  }
  ~address() {
    if (box_)
      detail::cause_event("the end of an address", nullptr, [b = box_] { b->drop_address(); });
  }

  /// Sends; `co_await` yields false if the inbox was destroyed.  If a process waits at the inbox,
  /// that process gets the message and, as a rule, runs at once, and the sender goes on in its next
  /// turn.  But the sender goes on first after 64 such hand-overs in a row, or if it has sent
  /// before and has neither received nor waited since.  If no process waits, the message is stored.
  /// If the mailbox is full, the sender waits for room.  A process that has sent and received 128
  /// messages without waiting lets the other processes go first.  Throws bad_alloc;
  /// std::logic_error if the port is another scheduler's, or if this address was moved from.
  ///
  /// Await each send in the expression that creates it.  O(1); allocates when more messages are
  /// stored than ever before.
  [[nodiscard("weft: co_await it")]] awaits_to<bool> auto send(M message) const {
    return detail::send_awaitable<M>(required(), std::move(message));
  }
  /// Sends the first messages of `all`, as many as there is room for; `co_await` yields their
  /// number, or 0 if the inbox was destroyed.  The process waits only while there is no room for
  /// the first message, and sends no other message after it has waited; so a process that is
  /// cancelled while it waits has sent none.  Messages that were sent are moved from.  Each message
  /// counts in the 128 of send().  Throws as send() does, if no message was sent; std::logic_error
  /// if `all` is empty.
  ///
  ///     for (std::span<int> left = all; !left.empty();) {
  ///       std::size_t const n = co_await to.send_many(left);
  ///       if (n == 0) break;
  ///       left = left.subspan(n);
  ///     }
  ///
  /// O(n) in the messages; allocates as send() does.
  [[nodiscard("weft: co_await it")]] awaits_to<std::size_t> auto send_many(std::span<M> all) const {
    return detail::send_many_awaitable<M>(required(), all);
  }
  /// Sends as send() does, but waits for room until `t` at the latest.  `co_await` yields a
  /// send_result<M>, with the message in it if it was not sent.  A message for which there is room
  /// is sent even after the deadline.  O(log n) in the waiters with a deadline; allocates as send()
  /// does; throws as send() does.
  [[nodiscard("weft: co_await it")]] awaits_to<send_result<M>> auto send_until(instant t,
                                                                               M message) const {
    return detail::send_until_awaitable<M>(t, true, required(), std::move(message));
  }
  /// Sends if there is room now, and never waits; `co_await` yields a send_result<M>, with the
  /// message in it if it was not sent.  O(1); allocates as send() does; throws as send() does.
  [[nodiscard("weft: co_await it")]] awaits_to<send_result<M>> auto try_send(M message) const {
    return detail::send_until_awaitable<M>(instant::max(), false, required(), std::move(message));
  }
  /// Whether both are addresses of one inbox.
  [[nodiscard]] bool operator==(address const&) const = default;

 private:
  template <class T>
  friend class inbox;
  template <class T>
  friend struct ports;
  explicit address(detail::typed_mailbox<M>& b) noexcept : box_(&b) { b.add_address(); }

  [[nodiscard]] detail::typed_mailbox<M>& required() const {
    if (!box_) throw std::logic_error("weft: an address was used after it was moved from");
    return *box_;
  }

  detail::typed_mailbox<M>* box_;
};

namespace detail {
/// Gives select() and the inboxes of routing.hpp access to the mailbox of an inbox.
struct mailbox_access {
  template <class M>
  static typed_mailbox<M>& of(inbox<M>& in) {
    return in.required();
  }
  template <class M>
  static inbox<M> inbox_of(typed_mailbox<M>* b) noexcept {
    return inbox<M>(b);
  }
};
}  // namespace detail

/// Both ends of a port.
template <class M>
struct ports {
  inbox<M> in;    ///< The receiving end.
  address<M> to;  ///< The sending end, to be copied to every sender.

  /// Called by open(): takes over a new mailbox, and makes its first address.
  explicit ports(detail::typed_mailbox<M>* b) noexcept : in(b), to(*b) {}
};

/// Waits until one of several inboxes has a message; `co_await` yields a variant, whose index says
/// which inbox the message came from.  If several have messages, the first of them in the list of
/// arguments is read.  Throws as receive() does; no_senders if none of the inboxes has an address
/// left.
///
///     auto const m = co_await select(numbers, words);  // a std::variant<int, std::string>
///
/// O(n) in the inboxes; allocates nothing.  Row: `mail`.
template <class... Ms>
[[nodiscard("weft: co_await it")]] awaits_to<std::variant<Ms...>> auto select(inbox<Ms>&... from) {
  return detail::select_awaitable<Ms...>(detail::mailbox_access::of(from)...);
}
/// Waits as select() does, but until `t` at the latest; `co_await` yields a
/// std::optional<std::variant<...>>, empty if no message has come by then.  O(n) in the inboxes,
/// O(log n) in the waiters with a deadline; allocates nothing; throws as select() does.  Row:
/// `mail`.
template <class... Ms>
[[nodiscard("weft: co_await it")]] awaits_to<std::optional<std::variant<Ms...>>> auto select_until(
    instant t, inbox<Ms>&... from) {
  return detail::select_until_awaitable<Ms...>(t, detail::mailbox_access::of(from)...);
}

}  // namespace weft
