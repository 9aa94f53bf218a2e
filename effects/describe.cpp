// SPDX-License-Identifier: MIT
#include "weft/effects/describe.hpp"

#include <cstddef>
#include <string>

#include "weft/effects/detail/frame.hpp"
#include "weft/effects/detail/names.hpp"

namespace weft::detail {

std::string describe_chain(prompt const& outermost, std::size_t lines) {
  std::string all =
      std::string(outermost.operation().name) + " at " + text(outermost.where()) + "\n";
  if (outermost.is() != prompt::state::suspended)
    return all + "  can no longer be resumed: the handler " +
           std::string(outermost.lost_handler()) + " no longer exists\n";

  continuation at = outermost.leaf();
  for (std::size_t i = 1;; ++i) {
    if (i >= lines) return all + "  and more\n";
    if (at.is_frame()) {
      auto const& frame = frame_of(at.frame());
      at = frame.parent;
      if (at.is_frame()) all += "  called at " + text(frame.to->where) + "\n";
    } else {
      auto const& end = at.end();
      all += "  under " + end.text() + "\n";
      if (&end == &outermost) return all;
      at = end.outside();
    }
  }
}

}  // namespace weft::detail
