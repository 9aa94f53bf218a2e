// SPDX-License-Identifier: MIT
#pragma once

// clang-format off
#if !defined(__linux__)
#error "weft: io/reactor.hpp is for Linux: on another system, derive a network of your own"
#include <the error above>
#endif
// clang-format on

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "weft/io/network.hpp"
#include "weft/io/socket.hpp"

namespace weft {

namespace detail {
class event_thread;
class socket_place;
class socket_table;
}  // namespace detail

/// The system's network: TCP, on Linux.
///
///     reactor net;
///     schedule(server, net);
///
/// Processes attempt operations on their own thread; one thread of the reactor waits, by epoll, for
/// the sockets of all processes that have to wait.  Thread safe: for any backend, and several
/// schedulers at once.
///
/// Real time only: with .virtual_time no process waits for the outside, so each deadline passes at
/// once.
///
/// Must outlive its sockets: if some are open, the destructor prints a message and terminates the
/// program.  A connection that a process owns is destroyed with that process, when schedule()
/// returns at the latest.
///
/// A socket sends at once (TCP_NODELAY), and may take a port that was in use a moment ago
/// (SO_REUSEADDR).  Child programs do not inherit descriptors; there is no SIGPIPE.
///
/// Cost of a message that a peer waits for: a read, a write, and a wake-up by the reactor's
/// thread.  After a read that got fewer bytes than fit, the reactor knows that there are no more:
/// until more arrive, an attempt makes no system call.  An accepted connection takes two system
/// calls to begin, and one to end.  Allocates 192 bytes for a connection, which a later connection
/// uses again.
class reactor final : public network {
 public:
  static constexpr bool thread_safe = true;

  /// Throws std::system_error if too many files are open, or no thread can be started; bad_alloc.
  reactor();
  ~reactor() override;

  // ---- socket_home

  void close(socket_id s) noexcept override;
  void unwatch(socket_id s, direction d, external_event& g) noexcept override;
  [[nodiscard]] endpoint peer(socket_id s) const override;
  [[nodiscard]] endpoint local(socket_id s) const override;

 private:
  class reserved;
  class use;

  void leave(detail::socket_place& p) const noexcept;

  // ---- the operations (io.hpp)

  [[nodiscard]] owned_socket listen(endpoint const& at) override;
  [[nodiscard]] std::optional<owned_socket> accept(socket_id s) override;
  [[nodiscard]] owned_socket connect(endpoint const& to) override;
  [[nodiscard]] bool finish_connect(socket_id s) override;
  [[nodiscard]] std::optional<std::size_t> read(socket_id s, std::span<std::byte> into) override;
  [[nodiscard]] std::optional<std::size_t> write(socket_id s,
                                                 std::span<std::byte const> from) override;
  void finish(socket_id s) override;
  void watch(socket_id s, direction d, external_event& g) override;

  std::unique_ptr<detail::socket_table> const table_;
  // The last member, and so destroyed first: its thread uses the table until it has ended.
  std::unique_ptr<detail::event_thread> const events_;
};

}  // namespace weft
