// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "effects/operation.hpp"
#include "io/socket.hpp"
#include "sched/sync/external_event.hpp"

namespace weft {

/// Talking to others through streams of bytes: what connections and listeners (connection.hpp)
/// perform.  None of it waits: what cannot be done yet says so, and who wants to wait has a gate
/// opened when it can.
///
/// A network answers: the system's (reactor.hpp), or one in memory (memory_network.hpp), where
/// delays and faults can be had as well.  What fails throws io_error at the operation.
///
/// All seal: what is outside cannot be had twice.
struct io {
  /// Where others can come.
  struct listen : op<owned_socket, seals> {
    explicit listen(endpoint e) : at(std::move(e)) {}
    endpoint at;
  };
  /// Somebody who has come: nothing if nobody has.
  struct accept : op<std::optional<owned_socket>, seals> {
    explicit accept(socket_id s) noexcept : on(s) {}
    socket_id on;
  };
  /// Begins to: writing is possible when it has come to something.
  struct connect : op<owned_socket, seals> {
    explicit connect(endpoint e) : to(std::move(e)) {}
    endpoint to;
  };
  /// Whether it has; throws if it has failed.
  struct finish_connect : op<bool, seals> {
    explicit finish_connect(socket_id s) noexcept : on(s) {}
    socket_id on;
  };
  /// What has come, so many bytes: 0 at the end, when the other side writes no more; nothing if
  /// nothing has come yet.
  struct read : op<std::optional<std::size_t>, seals> {
    read(socket_id s, std::span<std::byte> to) noexcept : on(s), into(to) {}
    socket_id on;
    std::span<std::byte> into;
    friend std::size_t hash_value(read const&) { return 0; }  // addresses differ from run to run
  };
  /// How many of them were taken, one or more: nothing if there is no room.
  struct write : op<std::optional<std::size_t>, seals> {
    write(socket_id s, std::span<std::byte const> bytes) noexcept : on(s), from(bytes) {}
    socket_id on;
    std::span<std::byte const> from;
    friend std::size_t hash_value(write const&) { return 0; }
  };
  /// We write no more; the other side reads an end.
  struct finish : op<void, seals> {
    explicit finish(socket_id s) noexcept : on(s) {}
    socket_id on;
  };
  /// It is no more: of who waits there, the next attempt fails.
  struct close : op<void, seals> {
    explicit close(socket_id s) noexcept : on(s) {}
    socket_id on;
  };
  /// The gate is opened when another attempt may do better; it may do so once too often.  One gate
  /// a direction: throws std::logic_error if there is one.  To be taken back (watch, socket.hpp).
  struct watch : op<void, seals> {
    watch(socket_id s, direction d, external_event& g) noexcept : on(s), what(d), gate(&g) {}
    socket_id on;
    direction what;
    external_event* gate;
    friend std::size_t hash_value(watch const&) { return 0; }
  };
  using operations =
      op_list<listen, accept, connect, finish_connect, read, write, finish, close, watch>;
};

}  // namespace weft
