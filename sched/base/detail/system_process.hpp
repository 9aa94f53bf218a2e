// SPDX-License-Identifier: MIT
#pragma once

#include "weft/effects/detail/platform.hpp"

namespace weft::detail {

/// The process of the system in which an object was made, for an object with threads, descriptors or
/// files.  After fork(2) the child has a copy of the object, but not its threads; and what the copy
/// does to the descriptors is done to those of the parent.  So the copy does nothing when it is
/// destroyed, and refuses to be used.
class system_process {
 public:
  /// Whether this is still that process.
  [[nodiscard]] bool is_here() const noexcept { return made_in_ == forks_so_far(); }
  /// Throws std::logic_error if this is a child; `what` is the object: "a reactor".
  void require(char const* what) const {
    if (!is_here()) [[unlikely]]
      throw_forked(what);
  }

 private:
  [[noreturn, gnu::cold]] static void throw_forked(char const* what);

  unsigned made_in_ = forks_so_far();
};

}  // namespace weft::detail
