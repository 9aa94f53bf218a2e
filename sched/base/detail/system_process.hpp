// SPDX-License-Identifier: MIT
#pragma once

#include "weft/effects/detail/platform.hpp"

namespace weft::detail {

/// The process of the system in which an object was made, for an object with threads, descriptors
/// or files.  After fork(2) the child has a copy of the object, but not its threads; and the copy's
/// descriptors stand for the same files and sockets as the parent's.  So the copy does nothing when
/// it is destroyed, and refuses to be used.
class system_process {
 public:
  /// Whether the caller runs in the process that made the object, not in a child of that process.
  [[nodiscard]] bool is_here() const noexcept { return made_in_ == forks_so_far(); }
  /// Throws std::logic_error in a child; `what` names the object, such as "a reactor".
  void require(char const* what) const {
    if (!is_here()) [[unlikely]]
      throw_forked(what);
  }

 private:
  [[noreturn, gnu::cold]] static void throw_forked(char const* what);

  unsigned made_in_ = forks_so_far();
};

}  // namespace weft::detail
