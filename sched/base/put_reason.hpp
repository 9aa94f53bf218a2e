// SPDX-License-Identifier: MIT
#pragma once

namespace weft {

/// Why a process is put into the queues.  A backend may order processes by it.
enum class put_reason : unsigned char {
  started,     ///< The process has not run yet.
  yielded,     ///< The process lets the others go first.
  woken,       ///< The event that the process waited for has happened.
  handed_over  ///< The process goes on later: it lets a process that it woke run at once.
};

}  // namespace weft
