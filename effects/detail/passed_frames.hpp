// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <exception>
#include <source_location>
#include <string>

namespace weft::detail {

/// Whether the frames that an exception leaves are noted, for async_stack_of() (async_stack.hpp).
[[gnu::visibility("default")]] inline constinit std::atomic<bool> passed_frames_are_noted = false;

/// Notes that the exception leaves a frame that was called at `where`.
[[gnu::cold]] void note_passed_frame(std::source_location where,
                                     std::exception_ptr const& error) noexcept;
/// The frames that the exception has left, a line for each.
[[nodiscard]] std::string passed_frames_of(std::exception_ptr const& error);
void forget_passed_frames() noexcept;

}  // namespace weft::detail
