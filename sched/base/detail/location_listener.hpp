// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "sched/base/process_id.hpp"

/// What processes share, as far as who explores schedules can see it: locations, each the address
/// of a gate, a mailbox, or what a program names by syncing::touch.
namespace weft::detail {

/// Hears of each of them.  Used by its thread.
class location_listener {
 public:
  location_listener() = default;
  location_listener(location_listener const&) = delete;
  location_listener& operator=(location_listener const&) = delete;

  virtual void note_created(void const* location) noexcept = 0;
  virtual void note_destroyed(void const* location) noexcept = 0;
  virtual void note_access(void const* location, bool is_written) noexcept = 0;
  /// All that comes is later than all that was.
  virtual void note_time() noexcept = 0;
  /// The process that runs has failed, or nobody can go on: all others are cancelled.
  virtual void note_all_cancelled() noexcept = 0;
  /// `twin` goes on as `from` does.  Both come to `shared`, and the second finds it taken.
  virtual void note_fork(process_id from, process_id clone, void const* shared) noexcept = 0;
  /// The process that runs does all that it has done once more.
  virtual void note_rerun() noexcept = 0;

  /// Null but while schedules are explored on this thread, and it matters.
  [[gnu::visibility("default")]] static inline constinit thread_local location_listener* of_thread =
      nullptr;

 protected:
  ~location_listener() = default;
};

/// From its constructor.
constexpr void note_created(void const* location) noexcept {
  if (std::is_constant_evaluated()) return;
  if (auto* const l = location_listener::of_thread) [[unlikely]]
    l->note_created(location);
}
/// From its destructor: what comes to lie there is another.
inline void note_destroyed(void const* location) noexcept {
  if (auto* const l = location_listener::of_thread) [[unlikely]]
    l->note_destroyed(location);
}
inline void note_access(void const* location, bool is_written) noexcept {
  if (auto* const l = location_listener::of_thread) [[unlikely]]
    l->note_access(location, is_written);
}
inline void note_fork(process_id from, process_id clone, void const* shared) noexcept {
  if (auto* const l = location_listener::of_thread) [[unlikely]]
    l->note_fork(from, clone, shared);
}
inline void note_rerun() noexcept {
  if (auto* const l = location_listener::of_thread) [[unlikely]]
    l->note_rerun();
}
inline void note_all_cancelled() noexcept {
  if (auto* const l = location_listener::of_thread) [[unlikely]]
    l->note_all_cancelled();
}
inline void note_time() noexcept {
  if (auto* const l = location_listener::of_thread) [[unlikely]]
    l->note_time();
}

}  // namespace weft::detail
