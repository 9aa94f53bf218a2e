// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/detail/prompt.hpp"
#include "weft/effects/resumption.hpp"

namespace weft {

namespace detail {
[[nodiscard]] std::string describe_chain(prompt const& outermost, std::size_t lines);
}  // namespace detail

/// Describes the suspended frames of a resumption, a line for each frame and handler, innermost
/// first:
///
///     proc::yield at worker.cpp:12
///       called at worker.cpp:20
///       under scheduler at main.cpp:31
///
/// At most `lines` lines; if the chain is longer, one more line says so.  If the resumption is
/// empty, or can no longer be resumed because a handler in its chain has ended, the text says that
/// in place of the chain.  O(lines); allocates the text.
template <class R, class A>
std::string describe(resumption<R, A> const& k, std::size_t lines = 64) {
  if (!k) return "an empty resumption\n";
  return detail::describe_chain(*k.rest(detail::internal()), lines);
}

}  // namespace weft
