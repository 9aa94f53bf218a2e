// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "weft/effects/eff.hpp"
#include "weft/io/blocking.hpp"
#include "weft/sched/sync/external_event.hpp"

/// Reads and writes whole files, on a thread that may block.
namespace weft {

/// Yields the contents of a file.  O(n); allocates the contents, and what off_thread does.  Throws
/// std::system_error, which names the file.
[[nodiscard]] eff<std::string, blocking, completions> read_file(std::string path);
/// Writes a file, or creates it.  A crash or an error may leave the file half written.
/// O(n); allocates what off_thread does.  Throws std::system_error, which names the file.
[[nodiscard]] eff<void, blocking, completions> write_file(std::string path, std::string text);

}  // namespace weft
