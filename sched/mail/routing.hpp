// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/operation.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/sched/base/scheduled.hpp"
#include "weft/sched/mail/detail/mail_awaitable.hpp"
#include "weft/sched/mail/detail/mail_waiters.hpp"
#include "weft/sched/mail/detail/mailbox_registry.hpp"
#include "weft/sched/mail/detail/route_table.hpp"
#include "weft/sched/mail/detail/send_awaitables.hpp"
#include "weft/sched/mail/detail/typed_mailbox.hpp"
#include "weft/sched/mail/mail.hpp"

namespace weft {

namespace detail {
/// The registry at which a process may register its inbox, and the id of the process.
struct own_route {
  mailbox_registry* registry;
  process_id owner;
};
}  // namespace detail

/// Sending to a process by its id.  If a sender can have an address, do not send by id: an address
/// needs no lookup, and addresses tell the receiver when no sender is left.
///
///     eff<void, mail, routing> pongs() {
///       auto in = co_await open_inbox<int>();
///       int const n = co_await in.receive();
///       ...
///     }
///     process_id const child = co_await spawn(pongs);
///     bool const there = co_await send(child, 42);   // true once the child has its inbox
///
/// An id has a meaning in its own scheduler only, and is used once there: it is the path of spawns
/// that led to the process (process_id.hpp), and no two processes have the same path.  So a message
/// to a process that has ended never reaches a later process.  A path that is too long for 63 bits
/// is hashed in part, and hashes may collide: if two live processes have the same id, the second of
/// them is refused an inbox.
///
/// A scheduler whose rows have no `routing` pays nothing for it; a scheduler whose rows have it
/// allocates a table of about 8 KB when the first inbox is opened.
struct routing {
  static constexpr bool performed_by_processes = true;  // a task with this effect is not light
  /// Asks for the registry of mailboxes, and the id of the running process.
  struct [[nodiscard("weft: co_await it")]] open : op<detail::own_route, seals> {
    [[nodiscard("weft: co_await it")]] open() noexcept {}
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_access;
  };
  /// Sends a message to a process, as mail::send does to a mailbox.  The answer is false also if
  /// the process has no inbox for messages of that type.
  struct [[nodiscard("weft: co_await it")]] send : op<bool> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_try;
    [[nodiscard("weft: co_await it")]] explicit send(detail::routed_send_waiter& s) noexcept
        : what(&s) {}
    detail::routed_send_waiter* what;  // lies in the awaiting frame
    friend std::size_t hash_value(send const& s) {
      return static_cast<std::size_t>(s.what->to.hash());
    }
  };
  /// Sends a message to a process, as mail::send_until does to a mailbox.  The answer is
  /// send_waiter::inbox_has_gone also if the process has no inbox for messages of that type.
  struct [[nodiscard("weft: co_await it")]] send_until : op<std::uint64_t> {
    static constexpr detail::scheduling_rule scheduling = detail::scheduled_as_try;
    [[nodiscard("weft: co_await it")]] send_until(detail::routed_send_waiter& s, detail::alarm* a,
                                                  bool may_wait) noexcept
        : what(&s), until(a), waits(may_wait) {}
    detail::routed_send_waiter* what;  // lies in the awaiting frame, like the alarm
    detail::alarm* until;
    bool waits;
    friend std::size_t hash_value(send_until const& s) {
      return static_cast<std::size_t>(s.what->to.hash());
    }
  };
  using operations = op_list<open, send, send_until>;
};

/// The inbox for messages that are sent to a process by its id.  The id is that of the process that
/// opened the inbox, wherever the inbox is moved to.  The route of that id (route_table.hpp) counts
/// as an address (ROUTE-2), so a receive never finds that no sender is left.  Once the inbox is
/// destroyed, by itself or with the frames of a process, a send to that id yields `false`.
///
/// The operations are those of inbox<M>.  Row: `mail`.  Used by one process at a time.  Every
/// operation throws std::logic_error if the inbox was not opened, or was moved from.  Each
/// operation is O(1); allocates nothing.
template <class M>
class [[nodiscard]] routed_inbox {
 public:
  /// Makes an inbox that is not opened; an opened inbox can be moved into it.
  routed_inbox() noexcept : in_(detail::mailbox_access::inbox_of<M>(nullptr)) {}
  /// Called by open_inbox(): enters the inbox in the table of routes, under the id of its process.
  /// Throws std::logic_error if the process has an inbox already; bad_alloc.
  routed_inbox(detail::own_route const& of, inbox<M> in) : in_(std::move(in)) {
    auto& all = of.registry->routes();
    all.add(of.owner, detail::mailbox_access::of(in_), detail::identity_of<M>);
    routes_ = &all;
    owner_ = of.owner;
  }
  routed_inbox(routed_inbox&& other) noexcept
      : in_(std::move(other.in_)),
        routes_(std::exchange(other.routes_, nullptr)),
        owner_(other.owner_) {}
  routed_inbox& operator=(routed_inbox other) noexcept {
    std::swap(in_, other.in_);
    std::swap(routes_, other.routes_);
    std::swap(owner_, other.owner_);
    return *this;
  }
  ~routed_inbox() {
    if (!routes_) return;
    // The route is removed first (ROUTE-3 of route_table.hpp).  Then the inbox, `closed`, is
    // destroyed before the route's address, `last`: else a process that still waits at
    // the inbox would find that no sender is left.
    detail::cause_event("the end of an inbox", nullptr,
                        [routes = routes_, owner = owner_, in = std::move(in_)]() mutable {
                          auto const last = routes->remove(owner);
                          auto const closed = std::move(in);
                        });
  }

  /// receive(), next(), receive_many(), receive_until(), try_receive() and get_address() do the
  /// same as those of an inbox<M>.
  [[nodiscard("weft: co_await it")]] awaits_to<M> auto receive() { return port().receive(); }
  [[nodiscard("weft: co_await it")]] awaits_to<std::optional<M>> auto next() {
    return port().next();
  }
  [[nodiscard("weft: co_await it")]] awaits_to<std::size_t> auto receive_many(std::span<M> into) {
    return port().receive_many(into);
  }
  [[nodiscard("weft: co_await it")]] awaits_to<std::optional<M>> auto receive_until(instant t) {
    return port().receive_until(t);
  }
  [[nodiscard("weft: co_await it")]] awaits_to<std::optional<M>> auto try_receive() {
    return port().try_receive();
  }
  [[nodiscard]] address<M> get_address() { return port().get_address(); }
  /// The process that opened the inbox.
  [[nodiscard]] process_id owner() const {
    require_open();
    return owner_;
  }
  /// The inbox for select().
  [[nodiscard]] inbox<M>& port() {
    require_open();
    return in_;
  }

 private:
  void require_open() const {
    if (!routes_)
      throw std::logic_error(
          "weft: a routed_inbox was used that was not opened, or was moved from");
  }

  inbox<M> in_;
  detail::route_table* routes_ = nullptr;  // in the registry, which in_ keeps alive
  process_id owner_;
};

namespace detail {

template <class M>
class open_inbox_awaitable : public mail_awaitable {
 public:
  using result = routed_inbox<M>;
  explicit open_inbox_awaitable(std::size_t capacity) noexcept : capacity_(capacity) {}
  template <class Row>
  routing::open operation_in() {
    return routing::open();
  }
  routed_inbox<M> finish(own_route of) {
    if constexpr (require_message<M>())
      return {of, mailbox_access::inbox_of(new typed_mailbox<M>(*of.registry, capacity_))};
    else
      std::terminate();
  }

 private:
  std::size_t capacity_;
};

template <class M>
class routed_send : public mail_awaitable {
 public:
  using result = bool;
  routed_send(process_id to, M&& m) noexcept
      : message_(std::move(m)), sender_(to, identity_of<M>, &message_) {}
  template <class Row>
  routing::send operation_in() {
    return routing::send(sender_);
  }

 private:
  M message_;
  routed_send_waiter sender_;
};
template <class M>
class routed_send_in_time : public timed_message<M, routed_send_waiter> {
 public:
  routed_send_in_time(instant t, bool waits, process_id to, M&& m) noexcept
      : timed_message<M, routed_send_waiter>(t, waits, std::move(m), to, identity_of<M>) {}
  template <class Row>
  routing::send_until operation_in() {
    return this->template operation<routing::send_until>();
  }
};

}  // namespace detail

/// Opens the inbox of the awaiting process: auto in = co_await open_inbox<int>();
///
/// Row: `routing`; the receives of the inbox need `mail`.
/// Three allocations: the mailbox, from the pool; its entry in the table of routes; and the message
/// buffer, when the first message is stored.  Seals, as open<M>() does.  Throws bad_alloc;
/// std::logic_error if the capacity is zero, or if the process has an inbox already: a process may
/// open another inbox after the first one is destroyed.
template <class M>
[[nodiscard("weft: co_await it")]] awaits_to<routed_inbox<M>> auto open_inbox(port_options o = {}) {
  if (o.capacity == 0) throw std::logic_error("weft: an inbox must have a capacity of at least 1");
  return detail::open_inbox_awaitable<M>(o.capacity);
}

/// Sends to a process of this scheduler: bool const there = co_await send(id, message);
///
/// Row: `routing`.
/// `co_await` yields false if the process has ended, never existed, has not opened its inbox or has
/// closed it, or if the inbox takes messages of another type.  `M` must be exactly the type that
/// the inbox takes, so text is sent as send(id, std::string("text")).  In all else this send() is
/// like address<M>::send.
///
/// Await each send in the expression that creates it.  O(1): one lookup, under the lock of one of
/// the table's 64 shards.  Allocates as address<M>::send does.
template <class M>
[[nodiscard("weft: co_await it")]] awaits_to<bool> auto send(process_id to, M message) {
  if constexpr (detail::require_message<M>())
    return detail::routed_send<M>(to, std::move(message));
  else
    return detail::refused<void>();
}
/// Sends to a process by its id, and waits for room until `t` at the latest; `co_await` yields the
/// same as address<M>::send_until.  O(log n) in the waiters with a deadline; allocates as
/// address<M>::send does.  Row: `routing`.
template <class M>
[[nodiscard("weft: co_await it")]] awaits_to<send_result<M>> auto send_until(instant t,
                                                                             process_id to,
                                                                             M message) {
  if constexpr (detail::require_message<M>())
    return detail::routed_send_in_time<M>(t, true, to, std::move(message));
  else
    return detail::refused<void>();
}
/// Sends to a process by its id if there is room now, and never waits; `co_await` yields the same
/// as address<M>::try_send.  O(1); allocates as address<M>::send does.  Row: `routing`.
template <class M>
[[nodiscard("weft: co_await it")]] awaits_to<send_result<M>> auto try_send(process_id to,
                                                                           M message) {
  if constexpr (detail::require_message<M>())
    return detail::routed_send_in_time<M>(instant::max(), false, to, std::move(message));
  else
    return detail::refused<void>();
}

}  // namespace weft
