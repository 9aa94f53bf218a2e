// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/durable/store.hpp"

namespace weft::durable::detail {

/// A change of a replicated store, as it stands in the log that its handles share.
struct command {
  /// Each kind uses the members that stand beside it.
  enum class kind : unsigned char {
    commit = 0,   // parts
    start = 1,    // process
    send = 2,     // message, once_key
    release = 3,  // key
    wake = 4,     // now, limit
    claim = 5,    // name, limit: the writer is a worker, and wants ready processes that nobody has
    beat = 6,     // name: the writer is a worker that lives
    disown = 7,   // keys: the worker does not have these processes any more
    leave = 8,    // the writer is a worker no more
    expire = 9    // name, heard: that worker is dead, unless it has written since `heard`
  };
  kind what = kind::beat;
  std::vector<commit_part> parts{};
  process_start process{};
  outgoing_message message{};
  std::string once_key{};
  process_key key = 0;
  timestamp now = 0;
  std::uint64_t limit = 0;
  std::string name{};
  std::uint64_t heard = 0;
  std::vector<process_key> keys{};
};

/// Encodes the members that the kind uses.  encode_commit() does so for a commit, without a copy of
/// its parts.
[[nodiscard]] std::string encode_command(command const& c);
[[nodiscard]] std::string encode_commit(std::span<commit_part* const> parts);
/// Throws store_error if the bytes are no command that this version knows.
[[nodiscard]] command decode_command(std::string_view bytes);

/// An entry of the log: a command, or a piece of one that is too large for one entry.
struct envelope {
  std::string_view writer{};  ///< The handle that has written it.
  std::uint64_t number = 0;   ///< The number of the command; grows with each command of the writer.
  std::uint32_t piece = 0;
  std::uint32_t pieces = 1;
  std::string_view body{};
};
[[nodiscard]] std::string encode_envelope(envelope const& e);
/// The texts of the result refer to `bytes`.  Throws store_error if the bytes are no entry of this
/// version.
[[nodiscard]] envelope decode_envelope(std::string_view bytes);

}  // namespace weft::durable::detail
