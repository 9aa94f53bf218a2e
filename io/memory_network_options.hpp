// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace weft {

/// The properties of a network in memory, and how many faults of each kind may happen in one run.
struct memory_network_options {
  /// Reads that yield only one byte, or half, of the bytes that have arrived.
  std::size_t splits = 0;
  /// Writes that take only one byte, or half of the bytes; the next write then finds no room, once.
  std::size_t short_writes = 0;
  /// Attempts of any kind that yield nothing although they could succeed.  Another attempt may
  /// succeed at once, but other processes may run before it.
  std::size_t delays = 0;
  /// Connections that are reset at a read or write: this attempt, all later ones on this side, and
  /// all on the other side fail with connection_reset, and unread bytes are lost.
  std::size_t resets = 0;
  /// Connections that are refused although there is a listener.
  std::size_t refusals = 0;
  /// Connections that, after some attempt, transmit nothing more and report no error.
  std::size_t silences = 0;
  /// The random-number seed for faults, if there is no explorer: at one attempt in eight, one of
  /// the possible faults happens.
  std::optional<std::uint64_t> seed{};
  /// How many bytes may be in transit in one direction of a connection: at least 1.
  std::size_t capacity = 65'536;
  /// How many connections one listener may hold until they are accepted: at least 1; further ones
  /// wait.
  std::size_t backlog = 128;
  /// How many sockets may be open at a time: one more fails with too_many_files_open.  0: no limit.
  std::size_t max_sockets = 0;
};

}  // namespace weft
