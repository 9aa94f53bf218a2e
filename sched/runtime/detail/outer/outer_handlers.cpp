// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/outer/outer_handlers.hpp"

#include <utility>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/run.hpp"

namespace weft::detail {

void* held_open::begin(eff<void, hold_open> body) {
  run(handle<hold_open>(keeper_, std::move(body)));
  return frame_of((*keeper_.rest.rest(internal())).leaf()).evidence;
}

}  // namespace weft::detail
