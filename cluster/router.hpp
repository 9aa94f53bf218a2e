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

/// Messages to processes on other computers that may be lost: presence, gossip, hints, measurements.
/// A message that has to arrive is sent from one durable process to another instead
/// (durable/process.hpp).
///
///     cluster::router r({.url = "nats://a:4222,nats://b:4222"});
///     auto in = co_await r.listen<status>("presence.*");      // a process, on any computer
///     r.to<status>("presence.alice").send({.is_here = true});  // a process or a thread, on any other
///     status const s = co_await in.receive();
///
/// A subject is that of NATS: words with dots between them.  Each message is delivered to each inbox
/// that listens to its subject, in any program, at most once.  Messages from one router to one inbox
/// arrive in the order in which they were sent.  A message is lost
///
///   * if no inbox listens to its subject when the server has it;
///   * if the sender's connection is broken, or breaks before the message is out: router::unsent()
///     counts what is known of that;
///   * if the connection of the receiver is broken when the server has the message, or the server
///     ends, or has no more patience with a connection that is slow;
///   * if the inbox is full: the oldest message in it is lost, lossy_inbox::overflowed();
///   * if it is of another type than the inbox receives, lossy_inbox::unreadable().
///
/// On the way a message is two values of MessagePack: the stable name of its type
/// (durable::stored_name), and the message as durable::encode() has it.
namespace weft::cluster {

/// Thrown if no server can be reached, by the constructor of a router; and by a receiver whose
/// router was closed, when it has received what had come.
struct [[gnu::visibility("default")]] routing_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class router;

namespace detail {
/// What a router shares with its addresses and inboxes.
class router_core;
void send(router_core& by, std::string const& subject, std::string message);
eff<std::shared_ptr<lossy_queue>, completions> listen(std::shared_ptr<router_core> by,
                                                      std::string subject, std::string prefix,
                                                      std::size_t capacity);
std::shared_ptr<std::string const> require_subject(std::string subject);
/// How the messages of a type begin.
template <class M>
[[nodiscard]] std::string const& prefix_of() {
  static std::string const prefix = durable::encode(std::string(durable::stored_name<M>()));
  return prefix;
}
}  // namespace detail

/// The address of processes on other computers: of all inboxes that listen to its subject.  A value,
/// thread safe as an int is.  It may outlive its router: a message that is sent then is lost.
template <class M>
class lossy_address {
 public:
  // A copy is cheap, so that none is ever empty.
  lossy_address(lossy_address const&) = default;
  lossy_address& operator=(lossy_address const&) = default;

  /// Hands the message to the router, which sends it soon.  Waits neither for a receiver nor for the
  /// server: a message that cannot be sent is lost (see above).  No operation: threads outside a scheduler
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
/// operation.  Each throws routing_error if the router was closed and no message is left;
/// std::logic_error if the inbox was moved from, or another process waits at it.  A process that is
/// cancelled while it waits has received nothing.
template <class M>
class [[nodiscard]] lossy_inbox {
 public:
  lossy_inbox(lossy_inbox&&) noexcept = default;
  lossy_inbox& operator=(lossy_inbox&&) noexcept = default;

  /// Waits for a message; `co_await` yields it.  A message that is there is received at once; at
  /// least each 64th ends the step of the process, as a yield does.  O(size of the message);
  /// allocates frames from the pool.
  eff<M, completions> receive() {
    for (;;) {
      auto bytes = co_await detail::lossy_queue::take_until(required(), instant::max());
      if (auto m = read(*bytes)) co_return std::move(*m);
    }
  }
  /// As receive(), until `t` at the latest; `co_await` yields an empty optional if no message has
  /// come by then.  O(log n) in the waiters with a deadline.
  eff<std::optional<M>, completions> receive_until(instant t) {
    for (;;) {
      auto bytes = co_await detail::lossy_queue::take_until(required(), t);
      if (!bytes) co_return std::nullopt;
      if (auto m = read(*bytes)) co_return m;
    }
  }
  /// A message that is there, or an empty optional.  No operation: it never waits.  O(size of the
  /// message, and of those before it that are unreadable).
  [[nodiscard]] std::optional<M> try_receive() {
    while (auto bytes = required()->try_take())
      if (auto m = read(*bytes)) return m;
    return std::nullopt;
  }

  /// How many messages were lost because the inbox was full.  Thread safe.
  [[nodiscard]] std::uint64_t overflowed() const { return required()->overflowed(); }
  /// How many were lost because they were of another type, or no messages of a router.  Thread
  /// safe.
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

  std::shared_ptr<detail::lossy_queue> queue_;  // its owner ends the subscription
};

/// How an inbox listens.
struct listen_options {
  /// How many messages wait to be received: at least 1.  When one more comes, the oldest is lost.
  std::size_t capacity = 1'024;
};

/// A connection to a NATS server or cluster, which sends and receives messages that may be lost
/// (see above).  It needs no JetStream.  When the connection breaks, it is made again, and the
/// inboxes listen again.  It has one thread that sends, and those of the library of NATS.  Thread
/// safe.
class router {
 public:
  /// Waits for a server, at most o.patience.  Throws routing_error; std::system_error.
  explicit router(connection_options const& o);
  router(router const&) = delete;
  router& operator=(router const&) = delete;
  /// Closes the connection.  Sends first what was handed over, if the server takes it: waits for
  /// that a few seconds at most.  Its addresses and inboxes may outlive it.
  ~router();

  /// The address of the processes that listen to `subject`.  Asks nobody.  Throws
  /// std::invalid_argument if it is no subject.
  template <class M>
  [[nodiscard]] lossy_address<M> to(std::string subject) const {
    return lossy_address<M>(core_, std::move(subject));
  }
  /// Listens to a subject, or to all that fit a pattern: `*` stands for one word, `>` at the end for
  /// one or more.  `co_await` yields a lossy_inbox<M>, which receives what is sent from then on.
  /// Waits for an answer of the server, 2 seconds at most; a server that does not answer by then is
  /// told when it can be reached.  If the server does not permit its user to listen to the subject,
  /// the inbox receives nothing.  Throws std::invalid_argument if it is no subject; routing_error if
  /// the connection was closed.
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
