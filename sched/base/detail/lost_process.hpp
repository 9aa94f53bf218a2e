// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <utility>

namespace weft::detail {

/// Why the frames are unwound that this thread is unwinding, if their process could not go on:
/// there was no memory for it, or its backend threw.  A promise in them that is not kept says so.
class lost_process {
 public:
  /// While it is there.
  explicit lost_process(std::exception_ptr const& why) noexcept
      : before_(std::exchange(why_, &why)) {}
  lost_process(lost_process const&) = delete;
  lost_process& operator=(lost_process const&) = delete;
  ~lost_process() { why_ = before_; }

  /// Null if they are unwound for another reason, or none are.
  [[nodiscard]] static std::exception_ptr const* why() noexcept { return why_; }

 private:
  [[gnu::visibility(
      "default")]] static inline constinit thread_local std::exception_ptr const* why_ = nullptr;

  std::exception_ptr const* const before_;
};

}  // namespace weft::detail
