// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <utility>

namespace weft::detail {

/// The reason why this thread unwinds the frames of a process that could not go on: bad_alloc, or
/// an exception of the backend.  If a promise in these frames is not fulfilled (submitter.hpp), its
/// future throws that reason.
class lost_process {
 public:
  /// The reason is set for the lifetime of this object.
  explicit lost_process(std::exception_ptr const& why) noexcept
      : before_(std::exchange(why_, &why)) {}
  lost_process(lost_process const&) = delete;
  lost_process& operator=(lost_process const&) = delete;
  ~lost_process() { why_ = before_; }

  /// Null if the thread unwinds frames for another reason, or unwinds none.
  [[nodiscard]] static std::exception_ptr const* why() noexcept { return why_; }

 private:
  [[gnu::visibility(
      "default")]] static inline constinit thread_local std::exception_ptr const* why_ = nullptr;

  std::exception_ptr const* const before_;
};

}  // namespace weft::detail
