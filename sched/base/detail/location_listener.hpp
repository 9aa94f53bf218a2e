// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "weft/sched/base/process_id.hpp"

/// Locations: the shared state that an explorer watches.  Each is the address of a gate or a
/// mailbox, or an address that the program names by syncing::touch.
namespace weft::detail {

/// The object that is told of each location and each access on one thread.
class location_listener {
 public:
  location_listener() = default;
  location_listener(location_listener const&) = delete;
  location_listener& operator=(location_listener const&) = delete;

  virtual void note_created(void const* location) noexcept = 0;
  virtual void note_destroyed(void const* location) noexcept = 0;
  virtual void note_access(void const* location, bool is_written) noexcept = 0;
  /// Called when time passes: then no later step can change places with an earlier one.
  virtual void note_time() noexcept = 0;
  /// Called when the running process reads the clock, or sets an alarm.
  virtual void note_clock() noexcept {}
  /// Called when all processes are cancelled: one has failed, none can go on, or the run is to end.
  virtual void note_all_cancelled() noexcept = 0;
  /// Called when `clone` was forked from `from`.  Both will access `shared`, the frames that they
  /// share: the first takes the frames, and the second finds them taken (FORK-1).
  virtual void note_fork(process_id from, process_id clone, void const* shared) noexcept = 0;
  /// Called when the running process is run again from its beginning.
  virtual void note_rerun() noexcept = 0;

  /// The listener of the calling thread; null unless schedules are explored on it by a strategy
  /// that needs the accesses.
  [[gnu::visibility("default")]] static inline constinit thread_local location_listener* of_thread =
      nullptr;

 protected:
  ~location_listener() = default;
};

/// Reports a new location.  Called by the constructor of the object there.
constexpr void note_created(void const* location) noexcept {
  if (std::is_constant_evaluated()) return;
  if (auto* const l = location_listener::of_thread) [[unlikely]]
    l->note_created(location);
}
/// Reports the end of a location.  Called by the destructor of the object there: a later object at
/// the same address is another location.
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

inline void note_clock() noexcept {
  if (auto* const l = location_listener::of_thread) [[unlikely]]
    l->note_clock();
}

}  // namespace weft::detail
