// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>

namespace weft {

/// Records the stack of each exception in coroutines: which frame awaited which at the throw.
///
///     record_async_stacks(true);
///     try {
///       schedule(program);
///     } catch (std::exception const& e) {
///       std::cerr << e.what() << '\n' << async_stack_of(std::current_exception());
///     }
///
/// `on` holds for the whole program; at first, recording is off.  While recording is on, each
/// frame that an exception leaves takes a lock and searches the last 16 exceptions, which are kept
/// alive.  While recording is off, each such frame reads a flag.  Thread safe.
void record_async_stacks(bool on) noexcept;

/// The frames that the exception has left, innermost first, a line for each:
///
///       called at worker.cpp:20
///
/// Each line names the place where the frame was awaited, or where run() was called.  The outermost
/// frame of a process was awaited nowhere, and has no line.  Empty if no frame was recorded.
/// Thread safe.  O(n) in the frames; allocates the text; throws bad_alloc.
[[nodiscard]] std::string async_stack_of(std::exception_ptr const& error);

}  // namespace weft
