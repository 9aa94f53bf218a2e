// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "effects/detail/frame.hpp"
#include "effects/detail/internal.hpp"
#include "effects/detail/names.hpp"
#include "effects/detail/prompt.hpp"
#include "effects/resumption.hpp"

namespace weft {

/// Describes the suspended frames of a resumption, a line for each frame and handler, innermost
/// first:
///
///     proc::yield at worker.cpp:12
///       called at worker.cpp:20
///       under scheduler at main.cpp:31
///
/// At most `lines` lines; if the chain is longer, one more line says so.  O(lines).  Says so if the
/// resumption is empty, or can no longer be resumed because a handler in its chain has ended.
template <class R, class A, class... Es>
std::string describe(resumption<R, A, Es...> const& k, std::size_t lines = 64) {
  if (!k) return "an empty resumption\n";
  detail::prompt const& outermost = *k.rest(detail::internal());
  std::string all =
      std::string(outermost.operation().name) + " at " + detail::text(outermost.where()) + "\n";
  if (outermost.is() != detail::prompt::state::suspended)
    return all + "  can no longer be resumed: the handler " +
           std::string(outermost.lost_handler()) + " no longer exists\n";

  detail::continuation at = outermost.leaf();
  for (std::size_t i = 1;; ++i) {
    if (i >= lines) return all + "  and more\n";
    if (at.is_frame()) {
      auto const& frame = detail::frame_of(at.frame());
      at = frame.parent;
      if (at.is_frame()) all += "  called at " + detail::text(frame.to->where) + "\n";
    } else {
      auto const& end = at.end();
      all += "  under " + end.text() + "\n";
      if (&end == &outermost) return all;
      at = end.outside();
    }
  }
}

}  // namespace weft
