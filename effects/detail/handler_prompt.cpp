// SPDX-License-Identifier: MIT
#include "weft/effects/detail/handler_prompt.hpp"

#include <string>

#include "weft/effects/detail/names.hpp"

namespace weft::detail {

std::string why_prompt_stays(prompt const& p) {
  std::string const handler(p.handler_name());
  if (p.is() == prompt::state::suspended)
    return handler + " keeps the resumption of " + std::string(p.operation().name) + " at " +
           detail::text(p.where());
  suspension const* const held_by = p.held_by();
  if (held_by && held_by->may_be_cut())
    return handler + " is inside the frames that " + std::string(held_by->handler_name()) +
           " suspended by " + std::string(held_by->operation().name) + " at " +
           detail::text(held_by->where());
  return handler + " handles a body that continues elsewhere";
}

}  // namespace weft::detail
