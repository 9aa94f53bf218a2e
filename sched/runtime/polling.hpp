// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace weft {

/// The result of scheduler::poll(): which work is left.  A loop of another library runs a scheduler
/// like this:
///
///     scheduler<> s;
///     s.on_wakeup([&loop] { loop.call_soon(); });  // by any thread, once for each wait
///     s.start(program, handlers...);
///     // in the loop: at first, and each time that call_soon() or call_at() has asked for:
///     switch (s.poll()) {
///       case poll_result::ready: loop.call_soon(); break;
///       case poll_result::waiting:
///         if (auto t = s.next_deadline()) loop.call_at(*t);
///         break;
///       case poll_result::ended: loop.stop(); break;
///     }
///
/// docs/recipes/foreign_event_loop.md has whole programs.  A program that may own its thread calls
/// run() instead, which sleeps by itself.
enum class poll_result : std::uint8_t {
  ended,    ///< No process is left, and none can come.
  waiting,  ///< Every process waits: for something outside, or for a time (next_deadline()).
  ready     ///< The steps were used up, and processes may be ready: poll soon.
};

}  // namespace weft
