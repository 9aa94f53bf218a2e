// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "sched/base/process_id.hpp"

/// What processes share, as far as who explores schedules can see it: locations, each the address
/// of a gate, a mailbox, or what a program names by syncing::touch.
namespace weft::detail {

/// Hears of each of them.  Used by its thread.
class touch_listener {
 public:
  touch_listener() = default;
  touch_listener(touch_listener const&) = delete;
  touch_listener& operator=(touch_listener const&) = delete;

  virtual void is_born(void const* location) noexcept = 0;
  virtual void is_gone(void const* location) noexcept = 0;
  virtual void is_touched(void const* location, bool is_written) noexcept = 0;
  /// All that comes is later than all that was.
  virtual void time_passes() noexcept = 0;
  /// The process that runs has failed, or nobody can go on: all others are cancelled.
  virtual void all_are_cancelled() noexcept = 0;
  /// `twin` goes on as `from` does.  Both come to `shared`, and the second finds it taken.
  virtual void is_forked(process_id from, process_id twin, void const* shared) noexcept = 0;
  /// The process that runs does all that it has done once more.
  virtual void begins_again() noexcept = 0;

  /// Null but while schedules are explored on this thread, and it matters.
  [[gnu::visibility("default")]] static inline constinit thread_local touch_listener* of_thread =
      nullptr;

 protected:
  ~touch_listener() = default;
};

/// From its constructor.
constexpr void is_born(void const* location) noexcept {
  if (std::is_constant_evaluated()) return;
  if (auto* const l = touch_listener::of_thread) [[unlikely]]
    l->is_born(location);
}
/// From its destructor: what comes to lie there is another.
inline void is_gone(void const* location) noexcept {
  if (auto* const l = touch_listener::of_thread) [[unlikely]]
    l->is_gone(location);
}
inline void is_touched(void const* location, bool is_written) noexcept {
  if (auto* const l = touch_listener::of_thread) [[unlikely]]
    l->is_touched(location, is_written);
}
inline void is_forked(process_id from, process_id twin, void const* shared) noexcept {
  if (auto* const l = touch_listener::of_thread) [[unlikely]]
    l->is_forked(from, twin, shared);
}
inline void begins_again() noexcept {
  if (auto* const l = touch_listener::of_thread) [[unlikely]]
    l->begins_again();
}
inline void all_are_cancelled() noexcept {
  if (auto* const l = touch_listener::of_thread) [[unlikely]]
    l->all_are_cancelled();
}
inline void time_passes() noexcept {
  if (auto* const l = touch_listener::of_thread) [[unlikely]]
    l->time_passes();
}

}  // namespace weft::detail
