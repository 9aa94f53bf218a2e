// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "weft/effects/operation.hpp"
#include "weft/io/socket.hpp"

namespace weft {

/// Streams of bytes between programs: the operations that connections and listeners
/// (connection.hpp) perform.  No operation waits.  An operation that cannot proceed says so, and
/// `watch` has an event opened when it can proceed.
///
/// Handled by a network: the system's (reactor.hpp), or one in memory (memory_network.hpp), which
/// can also add delays and faults.  A failure throws io_error at the operation.
///
/// All operations seal: an effect on the outside world cannot be repeated.
struct io {
  /// Listens at an address.
  struct [[nodiscard("weft: co_await it")]] listen : op<owned_socket, seals> {
    [[nodiscard("weft: co_await it")]] explicit listen(endpoint e) : at(std::move(e)) {}
    endpoint at;
  };
  /// Accepts a connection; nullopt if none has arrived.
  struct [[nodiscard("weft: co_await it")]] accept : op<std::optional<owned_socket>, seals> {
    [[nodiscard("weft: co_await it")]] explicit accept(socket_id s) noexcept : on(s) {}
    socket_id on;
  };
  /// Starts to connect.  The socket becomes writable when the outcome is known.
  struct [[nodiscard("weft: co_await it")]] connect : op<owned_socket, seals> {
    [[nodiscard("weft: co_await it")]] explicit connect(endpoint e) : to(std::move(e)) {}
    endpoint to;
  };
  /// Yields whether the socket is connected.  Throws if connecting has failed.
  struct [[nodiscard("weft: co_await it")]] finish_connect : op<bool, seals> {
    [[nodiscard("weft: co_await it")]] explicit finish_connect(socket_id s) noexcept : on(s) {}
    socket_id on;
  };
  /// Reads the bytes that have arrived, and yields how many: 0 if the other side has finished
  /// writing; nullopt if nothing has arrived.
  struct [[nodiscard("weft: co_await it")]] read : op<std::optional<std::size_t>, seals> {
    [[nodiscard("weft: co_await it")]] read(socket_id s, std::span<std::byte> to) noexcept
        : on(s), into(to) {}
    socket_id on;
    std::span<std::byte> into;
    friend std::size_t hash_value(read const&) { return 0; }  // addresses differ from run to run
  };
  /// Writes bytes, and yields how many, at least one; nullopt if there is no room.
  struct [[nodiscard("weft: co_await it")]] write : op<std::optional<std::size_t>, seals> {
    [[nodiscard("weft: co_await it")]] write(socket_id s, std::span<std::byte const> bytes) noexcept
        : on(s), from(bytes) {}
    socket_id on;
    std::span<std::byte const> from;
    friend std::size_t hash_value(write const&) { return 0; }
  };
  /// Ends the outgoing stream: the other side reads the end.
  struct [[nodiscard("weft: co_await it")]] finish : op<void, seals> {
    [[nodiscard("weft: co_await it")]] explicit finish(socket_id s) noexcept : on(s) {}
    socket_id on;
  };
  /// Closes the socket.  The next attempt of a waiting process fails.
  struct [[nodiscard("weft: co_await it")]] close : op<void, seals> {
    [[nodiscard("weft: co_await it")]] explicit close(socket_id s) noexcept : on(s) {}
    socket_id on;
  };
  /// Opens `gate` when another attempt may succeed; now and then also when it cannot.  A socket
  /// takes one event for each direction: throws std::logic_error if the direction has one already.
  /// socket_home::unwatch takes the event back (socket.hpp).
  struct [[nodiscard("weft: co_await it")]] watch : op<void, seals> {
    [[nodiscard("weft: co_await it")]] watch(socket_id s, direction d, external_event& g) noexcept
        : on(s), what(d), gate(&g) {}
    socket_id on;
    direction what;
    external_event* gate;
    friend std::size_t hash_value(watch const&) { return 0; }
  };
  using operations =
      op_list<listen, accept, connect, finish_connect, read, write, finish, close, watch>;
};

}  // namespace weft
