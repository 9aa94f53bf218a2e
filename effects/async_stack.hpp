// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>

namespace weft {

/// The stack of an exception, in coroutines: which frame awaited which, when it was thrown.
///
///     record_async_stacks(true);
///     try {
///       schedule(program);
///     } catch (std::exception const& e) {
///       std::cerr << e.what() << '\n' << async_stack_of(std::current_exception());
///     }
///
/// On for the whole program, or off, as it is at first.  On: each frame that an exception leaves
/// costs a lock and a look at the exceptions that are kept, the last 16; these live that much
/// longer.  Off: a flag is read for each such frame.  Thread safe.
void record_async_stacks(bool on) noexcept;

/// The frames that the exception has left, innermost first, a line for each:
///
///       called at worker.cpp:20
///
/// The place is where the frame was awaited, or run() was called.  The outermost frame of a process
/// was awaited nowhere, and has no line.  Empty if no frame is known.  Thread safe.  O(n) in the
/// frames; allocates the text; throws bad_alloc.
[[nodiscard]] std::string async_stack_of(std::exception_ptr const& error);

}  // namespace weft
