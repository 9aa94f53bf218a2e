// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <source_location>

namespace weft::detail {

/// Whether frames are noted that an exception leaves (async_stack.hpp).
[[gnu::visibility("default")]] inline constinit std::atomic<bool> passed_frames_are_noted = false;

/// Notes that the exception that is being handled leaves a frame which was called at `where`.
[[gnu::cold]] void note_passed_frame(std::source_location where) noexcept;

}  // namespace weft::detail
