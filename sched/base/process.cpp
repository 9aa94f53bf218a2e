// SPDX-License-Identifier: MIT
#include "weft/sched/base/process.hpp"

#include <coroutine>
#include <string>

namespace weft {

resumption_expired process::cut_error() const {
  return resumption_expired("weft: process " + id_.text() + " was suspended by " + waits_at_text() +
                            " inside a handler " + std::string(lost_handler()) +
                            ", which no longer exists");
}
std::coroutine_handle<> process::unwind_inside(detail::frame_end const& part,
                                               std::coroutine_handle<> leaf, detail::prompt& around,
                                               detail::prompt& ground) noexcept {
  drop_inside(part, leaf, around);
  return resume_slow(0, ground);
}

std::string process::text() const { return "process " + id_.text(); }

std::string process::waits_at_text() const {
  return std::string(at_.operation->name) + " at " + detail::text(where());
}

}  // namespace weft
