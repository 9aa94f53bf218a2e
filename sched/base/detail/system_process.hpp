// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

namespace weft::detail {

/// The process of the system in which an object was made, for an object with threads, descriptors or
/// files.  After fork(2) the child has a copy of the object, but not its threads; and what the copy
/// does to the descriptors is done to those of the parent.  So the copy does nothing when it is
/// destroyed, and refuses to be used.
///
/// A fork costs an addition in the child; the test is one load.  vfork and clone are not noticed.
class system_process {
 public:
  system_process() noexcept;
  /// Whether this is still that process.
  [[nodiscard]] bool is_here() const noexcept {
    return made_in_ == forks_.load(std::memory_order_relaxed);  // relaxed: written by a fork's child
  }
  /// Throws std::logic_error if this is a child; `what` is the object: "a reactor".
  void require(char const* what) const {
    if (!is_here()) [[unlikely]]
      throw_is_elsewhere(what);
  }

 private:
  [[noreturn, gnu::cold]] static void throw_is_elsewhere(char const* what);

  [[gnu::visibility("default")]] static inline constinit std::atomic<unsigned> forks_ = 0;
  unsigned made_in_;
};

}  // namespace weft::detail
