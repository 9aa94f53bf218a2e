// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace weft {

/// What a network in memory is like, and how often at most, in one run, what may go wrong.
struct memory_network_options {
  /// Reads that get only one byte, or half, of what there is.
  std::size_t splits = 0;
  /// Writes of which only one byte, or half, is taken; and then there is no room, once.
  std::size_t short_writes = 0;
  /// Attempts, of any kind, that find nothing yet though there is something.  Another one may do
  /// better at once, but others may run before it.
  std::size_t delays = 0;
  /// Connections that are reset when somebody reads or writes: on both sides that attempt, or the
  /// next one, and all that follow fail with connection_reset, and what was not read is lost.
  std::size_t resets = 0;
  /// Connections that are refused though somebody listens.
  std::size_t refusals = 0;
  /// Connections that from an attempt on carry nothing any more, and tell nobody.
  std::size_t silences = 0;
  /// Without an explorer: what goes wrong is drawn from this seed, one attempt in eight if it can.
  std::optional<std::uint64_t> seed{};
  /// Bytes on their way in one direction of a connection: 1 at least.
  std::size_t capacity = 65'536;
  /// Who may be connected and not accepted yet, of one listener, 1 at least; others wait.
  std::size_t backlog = 128;
  /// More are too_many_files_open.  0: there may be any number.
  std::size_t max_sockets = 0;
};

}  // namespace weft
