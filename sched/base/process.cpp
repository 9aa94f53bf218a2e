// SPDX-License-Identifier: MIT
#include "weft/sched/base/process.hpp"

#include <coroutine>
#include <source_location>
#include <string>
#include <string_view>

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

std::string_view process::function() const noexcept {
  if (is_ != state::suspended || !at_.operation) return {};
  // Whether `end` is the outer end of the process, or of a task that the process runs.
  auto const is_outermost_end = [this](detail::frame_end& end) {
    if (&end == this) return true;
    if (end.as_suspension()) return false;
    auto const outside = end.outside();
    return !outside.is_frame() && &outside.end() == this;
  };
  // A place in the frame `at`, or, if `at` is no frame, in the next frame outside.
  std::source_location where = this->where();
  // The slot for the result of the call that the frame `at` awaits; null if it is not known.
  detail::result_slot_base const* slot = nullptr;
  for (detail::continuation at = at_.leaf; !at.is_ordinary_code();) {
    if (at.is_frame()) {
      detail::frame const& f = detail::frame_of(at.frame());
      at = f.parent;
      // Stops before it reads f.to: the slot of the outermost frame has no place (PROCESS-3).
      if (!at.is_frame() && is_outermost_end(at.end())) {
        std::string_view const function = where.function_name();
        if (slot && function.find(" weft::named(") != function.npos)  // slot keeps a name (NAME-1)
          return static_cast<char const*>(slot->kept_pointer());
        return function;
      }
      slot = f.to;
      where = slot ? slot->where : std::source_location();
    } else {
      if (auto* const handler = at.end().as_suspension())
        where = static_cast<detail::prompt*>(handler)->installed_at(), slot = nullptr;
      at = at.end().outside();
    }
  }
  return {};
}

std::string process::text() const { return "process " + id_.text(); }

std::string process::waits_at_text() const {
  return std::string(at_.operation->name) + " at " + detail::text(where());
}

}  // namespace weft
