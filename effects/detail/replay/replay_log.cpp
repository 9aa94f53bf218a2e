// SPDX-License-Identifier: MIT
#include "weft/effects/detail/replay/replay_log.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "weft/effects/detail/replay/log_path.hpp"
#include "weft/effects/errors.hpp"
#include "weft/effects/memory/frame_pool.hpp"

namespace weft::detail {

// ---- reading

struct replay_log::cursor_on_path : pooled, log_path, cursor {
  cursor_on_path(log_segment const& tail, std::uint32_t length)
      : log_path(tail, length), cursor(log_path::begin(), log_path::end()) {}
};
replay_log::cursor_on_path& replay_log::whole_cursor() const noexcept {
  return static_cast<cursor_on_path&>(*cursor_);
}

void replay_log::rewind() {
  shared_ = length_;
  if (length_ == 0) return;
  end_replay();
  cursor_ = new cursor_on_path(*tail_, length_);
}
void replay_log::end_replay() noexcept {
  if (cursor_) delete &whole_cursor();
  cursor_ = nullptr;
}

// ---- writing

void replay_log::give_up(why_over why, site const& at) noexcept {
  if (is_over()) return;
  over_ = why;
  sealed_at_ = at;
  log_segment::drop(std::exchange(tail_, nullptr));  // no run will need it (LOG-4)
  shared_ = length_ = 0;
}

// ---- messages

void replay_log::throw_unforkable(site const& at) const {
  std::string const start = "weft: " + at.text() +
                            " would have the program run again from its "
                            "beginning, which it cannot be: ";
  if (over_ == why_over::sealed)
    throw unforkable(start + "the answer of " + sealed_at_.text() + " cannot be given twice");
  if (over_ != why_over::memory)
    throw unforkable(start + "its log would go over the limit of " + std::to_string(limit_) +
                     " entries (.log_limit)");
  throw unforkable(start + "there was no memory to log " + sealed_at_.text());
}

replay_divergence replay_log::divergence(site const& at) const {
  return replay_divergence(first_half() + "performed " + at.text() + second_half());
}
replay_divergence replay_log::divergence() const {
  return replay_divergence(first_half() + "ended" + second_half());
}
std::string replay_log::first_half() const {
  cursor_on_path const& c = whole_cursor();
  return "weft: a program was run again and, at operation " +
         std::to_string(c.operations_before(c.part, c.next) + c.repeated + 1) + ", ";
}
std::string replay_log::second_half() const {
  return ", where the first time it performed " + cursor_->next->at().text() +
         "; what it does may depend on its effects' answers only, not on the clock, addresses, "
         "globals, or what its captures refer to";
}

}  // namespace weft::detail
