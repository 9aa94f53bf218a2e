// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "effects/eff.hpp"
#include "effects/operation.hpp"
#include "sched/base/backend.hpp"
#include "sched/base/detail/deferred_events.hpp"
#include "sched/base/errors.hpp"
#include "sched/base/scheduled.hpp"
#include "sched/mail/detail/mailbox.hpp"
#include "sched/mail/detail/mailbox_registry.hpp"
#include "sched/mail/detail/typed_mailbox.hpp"

namespace weft {

/// Sending and receiving: what the ends of ports perform.  Erased: the ends know the type.
struct mail {
  static constexpr bool is_of_processes = true;  // who performs it is one (tasking.hpp)
  /// Answered with where mailboxes are registered.
  struct open : op<detail::mailbox_registry*, seals> {};
  /// False if nobody will receive it any more.
  struct send : op<bool> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_try;
    explicit send(detail::send_waiter& s) noexcept : what(&s) {}
    detail::send_waiter* what;                                // in the awaiting frame
    friend std::size_t hash_value(send const&) { return 0; }  // addresses differ from run to run
  };
  /// The same, until then at the latest: detail::sender::sent, too_late or inbox_has_gone.
  struct send_until : op<std::uint64_t> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_try;
    /// `a`: null if it waits as long as it takes.
    send_until(detail::send_waiter& s, detail::alarm* a, bool may_wait) noexcept
        : what(&s), until(a), waits(may_wait) {}
    detail::send_waiter* what;  // in the awaiting frame, as the alarm
    detail::alarm* until;
    bool waits;
    friend std::size_t hash_value(send_until const&) { return 0; }
  };
  /// Which of the mailboxes had one, from 1 on; or detail::receiver::too_late, nobody_left.
  struct receive : op<std::uint64_t, seals> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_try;
    receive(detail::receive_waiter& r, bool may_wait) noexcept : where(&r), waits(may_wait) {}
    detail::receive_waiter* where;  // in the awaiting frame
    bool waits;
    friend std::size_t hash_value(receive const&) { return 0; }
  };
  using operations = op_list<open, send, send_until, receive>;
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

/// What became of a message that was to be sent by a certain time.
enum class delivery : unsigned char {
  sent,      ///< It waits in the mailbox, or has been received.
  too_late,  ///< There was no room by then.
  no_inbox   ///< The inbox has gone.
};
/// The answer to send_until() and try_send().  Nothing is dropped: a message that was not sent is
/// here.
///
///     auto result = co_await to.send_until(soon, std::move(letter));
///     if (!result) keep(std::move(*result.unsent));
template <class M>
struct [[nodiscard]] send_result {
  delivery what = delivery::sent;
  std::optional<M> unsent;  ///< The message, unless it was sent.
  [[nodiscard]] explicit operator bool() const noexcept { return what == delivery::sent; }
};

struct port_options {
  /// How many messages wait at most, one or more; who sends more waits until there is room.
  std::size_t capacity = std::numeric_limits<std::size_t>::max();
};

/// A port: auto [in, to] = co_await open<int>();
///
/// Two allocations, none of them for a message: the mailbox, from the pool; and room, when the
/// first message has to wait.  Seals: who has opened a port cannot fork any more.  Throws
/// bad_alloc; std::logic_error if the capacity is zero.
template <class M>
[[nodiscard]] auto open(port_options o = {}) {
  if (o.capacity == 0)
    throw std::logic_error("weft: a port of capacity 0 could not pass on a message: 1 or more");
  return detail::open_awaitable<M>(o.capacity);
}

/// Where one process gets messages.  It belongs to who receives: it moves, and is no value to copy.
/// When it goes, its messages go with it, unread, and who sends finds `false`.  So they do when its
/// scheduler ends: nobody can receive them any more.  Until then an inbox that was sent to its own
/// address, or two that were sent to each other's, stay where they are.
///
/// Each operation seals: the process cannot fork any more.  To be awaited where it is written; this
/// object must be there until then.  On several threads it may be used by one process at a time.
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

  /// The next message; waits for one.  Of each sender the first it sent is the first.  Throws
  /// no_senders; std::logic_error if another process waits here, or this was moved from.
  [[nodiscard]] auto receive() { return detail::receive_or_throw<M>(required()); }
  /// The same, nothing instead of no_senders:
  ///     for (auto m = co_await in.next(); m; m = co_await in.next())
  [[nodiscard]] auto next() { return detail::receive_next<M>(required()); }
  /// The same, nothing if none has come by then.  Throws no_senders.  O(log n), of n who wait with
  /// a deadline.
  [[nodiscard]] auto receive_until(instant t) {
    return detail::receive_until_awaitable<M>(t, required());
  }
  /// One that is there: nothing if there is none.
  [[nodiscard]] auto try_receive() { return detail::receive_now<M>(required()); }

  /// One more address, also when all others have gone.
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

/// Where to send to.  A value: copies are counted, and when the last one goes who receives is told
/// that nobody is left.  Thread safe as an int is, on a backend of several threads; else it is for
/// its scheduler's thread.
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

  /// Sends: false if the inbox has gone.  Who waits for it goes on at once, and who sends in its
  /// turn, up to 64 times in a row; else the message waits there.  If the inbox is full, who sends
  /// waits for room.  Throws bad_alloc; std::logic_error if the port is another scheduler's, or
  /// this was moved from.
  ///
  /// To be awaited where it is written.  O(1); allocates when more messages wait than ever before.
  [[nodiscard]] auto send(M message) const {
    return detail::send_awaitable<M>(required(), std::move(message));
  }
  /// The same, if the message can be sent by then: a send_result<M>, with the message if it was not
  /// sent.  A message for which there is room is sent, however late it is.  O(log n), of n who wait
  /// with a deadline.
  [[nodiscard]] auto send_until(instant t, M message) const {
    return detail::send_until_awaitable<M>(t, true, required(), std::move(message));
  }
  /// The same, if it can be sent without waiting.
  [[nodiscard]] auto try_send(M message) const {
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
/// For who receives from several, or by its id.
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
  inbox<M> in;
  address<M> to;

  /// For open().
  explicit ports(detail::typed_mailbox<M>* b) noexcept : in(b), to(*b) {}
};

/// The first message of several inboxes: the variant's index says which.  If several have one, of
/// the first of them.  Waits for one.  Throws as receive(); no_senders if none of them has an
/// address left.
///
///     auto const m = co_await select(numbers, words);  // a std::variant<int, std::string>
///
/// O(n) of n inboxes; allocates nothing.
template <class... Ms>
[[nodiscard]] auto select(inbox<Ms>&... from) {
  return detail::select_awaitable<Ms...>(detail::mailbox_access::of(from)...);
}
/// The same, nothing if none has come by then: a std::optional<std::variant<...>>.
template <class... Ms>
[[nodiscard]] auto select_until(instant t, inbox<Ms>&... from) {
  return detail::select_until_awaitable<Ms...>(t, detail::mailbox_access::of(from)...);
}

}  // namespace weft
