// SPDX-License-Identifier: MIT
#include "weft/effects/async_stack.hpp"

#include <atomic>
#include <exception>
#include <string>

#include "weft/effects/detail/passed_frames.hpp"

namespace weft {

void record_async_stacks(bool on) noexcept {
  // Relaxed: an exception that passes a frame at this time may be noted or not.
  detail::passed_frames_are_noted.store(on, std::memory_order_relaxed);
  if (!on) detail::forget_passed_frames();
}

std::string async_stack_of(std::exception_ptr const& error) {
  return detail::passed_frames_of(error);
}

}  // namespace weft
