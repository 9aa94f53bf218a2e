// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "weft/cluster/connection_options.hpp"
#include "weft/cluster/detail/lossy_queue.hpp"
#include "weft/durable/codec.hpp"
#include "weft/effects/eff.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/sync/completion.hpp"

/// Messages to processes on other computers; a message may be lost.  For presence, gossip, hints,
/// measurements.  Send a message that has to arrive from one durable process to another instead
/// (durable/process.hpp).
///
///     cluster::router r({.url = "nats://a:4222,nats://b:4222"});
///     auto in = co_await r.listen<status>("presence.*");      // a process, on any computer
///     r.to<status>("presence.alice").send({.is_here = true});  // a process or thread, anywhere
///     status const s = co_await in.receive();
///
/// A subject is a NATS subject: words with dots between them.  Each message is delivered to each
/// inbox that listens to its subject, in any program, at most once.  Messages from one router to
/// one inbox arrive in the order in which they were sent.  A message is lost
///
///   * if no inbox listens to its subject when the server has it;
///   * if the sender's connection is broken, or breaks before the message is out: router::unsent()
///     counts the losses that the router notices;
///   * if the receiver's connection is broken when the server has the message, or the server ends,
///     or closes the connection because the receiver is slow;
///   * if the inbox is full: the oldest message in it is lost, and lossy_inbox::overflowed() counts
///     it;
///   * if the inbox receives another type: lossy_inbox::unreadable() counts the message.
///
/// On the way a message is two values of MessagePack: the stable name of its type
/// (durable::stored_name), and the message as durable::encode() has it.
namespace weft::cluster {

/// Thrown by the constructor of a router if it cannot connect; by router::listen() if it cannot
/// subscribe; and, after the connection was closed, by an inbox that has no message left.
struct [[gnu::visibility("default")]] routing_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class router;

namespace detail {
/// The state that a router shares with its addresses and inboxes.
class router_core;
void send(router_core& by, std::string const& subject, std::string message);
eff<std::shared_ptr<lossy_queue>, completions> listen(std::shared_ptr<router_core> by,
                                                      std::string subject, std::string prefix,
                                                      std::size_t capacity);
std::shared_ptr<std::string const> require_subject(std::string subject);
/// The bytes with which each message of type M begins: the stable name of M, encoded.
template <class M>
[[nodiscard]] std::string const& prefix_of() {
  static std::string const prefix = durable::encode(std::string(durable::stored_name<M>()));
  return prefix;
}
}  // namespace detail

/// The address of all inboxes that listen to a subject, on any computer.  A value, as thread safe
/// as an int.  It may outlive its router: a message that is sent after the router's end is lost.
template <class M>
class lossy_address {
 public:
  // No moves: a copy is cheap, and so no address is ever empty.
  lossy_address(lossy_address const&) = default;
  lossy_address& operator=(lossy_address const&) = default;

  /// Hands the message to the router, which sends it soon.  Waits neither for a receiver nor for
  /// the server: a message that cannot be sent is lost.  No operation: threads outside a scheduler
  /// may call it.  O(size of the message); allocates its bytes.  Throws std::length_error if the
  /// server takes no message of that size.
  void send(M const& message) const {
    detail::send(*by_, *subject_, detail::prefix_of<M>() + durable::encode(message));
  }
  /// The subject, as router::to() was given it.
  [[nodiscard]] std::string const& subject() const noexcept { return *subject_; }

 private:
  friend class router;
  lossy_address(std::shared_ptr<detail::router_core> by, std::string subject)
      : by_(std::move(by)), subject_(detail::require_subject(std::move(subject))) {}

  std::shared_ptr<detail::router_core> by_;
  std::shared_ptr<std::string const> subject_;
};

/// Receives the messages of a subject, for one process.  Movable, not copyable.  When it is
/// destroyed, its unread messages are lost, and no more come.
///
/// An operation that waits seals: the process can no longer fork.  The inbox must outlive the
/// operation.  Receiving throws routing_error if the router was closed and no message is left;
/// std::logic_error if the inbox was moved from, or if another process waits at it.  A process that
/// is cancelled while it waits has received nothing.
template <class M>
class [[nodiscard]] lossy_inbox {
 public:
  lossy_inbox(lossy_inbox&&) noexcept = default;
  lossy_inbox& operator=(lossy_inbox&&) noexcept = default;

  /// Receives the oldest message, or waits for one if there is none; `co_await` yields the message.
  /// At least each 64th receive ends the step of the process, as a yield does.  O(size of the
  /// message); allocates frames from the pool.
  eff<M, completions> receive() {
    for (;;) {
      auto bytes = co_await detail::lossy_queue::take_until(required(), instant::max());
      if (auto m = read(*bytes)) co_return std::move(*m);
    }
  }
  /// Waits for a message until `t` at the latest; `co_await` yields it, or an empty optional if
  /// none has come by then.  Costs what receive() costs, and O(log n) in the waiters with a
  /// deadline.
  eff<std::optional<M>, completions> receive_until(instant t) {
    for (;;) {
      auto bytes = co_await detail::lossy_queue::take_until(required(), t);
      if (!bytes) co_return std::nullopt;
      if (auto m = read(*bytes)) co_return m;
    }
  }
  /// Receives a message that is there, else returns an empty optional.  No operation: never waits.
  /// O(size of the message, and of the unreadable messages before it).
  [[nodiscard]] std::optional<M> try_receive() {
    while (auto bytes = required()->try_take())
      if (auto m = read(*bytes)) return m;
    return std::nullopt;
  }

  /// How many messages were lost because the inbox was full.  Thread safe.
  [[nodiscard]] std::uint64_t overflowed() const { return required()->overflowed(); }
  /// How many messages were lost because they were of another type, or not sent by a router.
  /// Thread safe.
  [[nodiscard]] std::uint64_t unreadable() const { return required()->unreadable(); }

 private:
  friend class router;
  explicit lossy_inbox(std::shared_ptr<detail::lossy_queue> q) noexcept : queue_(std::move(q)) {}

  [[nodiscard]] std::shared_ptr<detail::lossy_queue> const& required() const {
    if (!queue_) throw std::logic_error("weft: a lossy_inbox was used after it was moved from");
    return queue_;
  }
  [[nodiscard]] std::optional<M> read(std::string const& bytes) {
    try {
      return durable::decode<M>(bytes);
    } catch (durable::not_readable const&) {
      required()->note_unreadable();
      return std::nullopt;
    }
  }

  std::shared_ptr<detail::lossy_queue> queue_;  // owns the subscription, too: an aliasing pointer
};

/// How an inbox listens.
struct listen_options {
  /// How many unread messages the inbox holds, at least 1.  One more, and the oldest is lost.
  std::size_t capacity = 1'024;
};

/// A connection to a NATS server or cluster, which sends and receives messages that may be lost
/// (see the head of this file).  It needs no JetStream.  When it breaks, it is made again, and the
/// inboxes listen again.  It has one thread that sends, and those of the library of NATS.  Thread
/// safe.
class router {
 public:
  /// Waits for a server, at most o.patience.  Throws routing_error if none accepts the connection,
  /// or an option is wrong; std::system_error if the thread cannot be started.
  explicit router(connection_options const& o);
  router(router const&) = delete;
  router& operator=(router const&) = delete;
  /// Sends the messages that were handed over, if the server takes them within a few seconds, then
  /// closes the connection.  Addresses and inboxes of the router may outlive it.
  ~router();

  /// The address of the inboxes that listen to `subject`.  Asks no server.  Throws
  /// std::invalid_argument if `subject` is no subject.
  template <class M>
  [[nodiscard]] lossy_address<M> to(std::string subject) const {
    return lossy_address<M>(core_, std::move(subject));
  }
  /// Listens to a subject, or to all that fit a pattern: `*` stands for one word, `>` at the end
  /// for one or more.  `co_await` yields a lossy_inbox<M>, which receives the messages that are
  /// sent from then on.  Waits for an answer of the server, 2 seconds at most; a server that has
  /// not answered by then is told when it can be reached.  If the server does not permit the user
  /// to listen to the subject, the inbox receives nothing.  Throws std::invalid_argument if
  /// `subject` is no subject or pattern; std::logic_error if o.capacity is 0; routing_error if the
  /// connection was closed, or if the library of NATS cannot subscribe.
  template <class M>
  [[nodiscard]] eff<lossy_inbox<M>, completions> listen(std::string subject,
                                                        listen_options o = {}) const {
    return listen_by<M>(core_, std::move(subject), o);
  }

  /// How many messages were not sent because the connection was broken, or the server did not take
  /// them in time: if 8 MiB wait to be sent, the oldest is lost.  Thread safe.
  [[nodiscard]] std::uint64_t unsent() const noexcept;

 private:
  template <class M>
  static eff<lossy_inbox<M>, completions> listen_by(std::shared_ptr<detail::router_core> by,
                                                    std::string subject, listen_options o) {
    co_return lossy_inbox<M>(co_await detail::listen(std::move(by), std::move(subject),
                                                     detail::prefix_of<M>(), o.capacity));
  }

  std::shared_ptr<detail::router_core> core_;
};

}  // namespace weft::cluster
