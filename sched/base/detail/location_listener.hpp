// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "sched/base/process_id.hpp"

/// Locations: the shared state that an explorer watches.  Each is the address of a gate or a
/// mailbox, or an address that the program names by syncing::touch.
namespace weft::detail {

/// Receives each location and each access.  Used by its own thread.
class location_listener {
 public:
  location_listener() = default;
  location_listener(location_listener const&) = delete;
  location_listener& operator=(location_listener const&) = delete;

  virtual void note_created(void const* location) noexcept = 0;
  virtual void note_destroyed(void const* location) noexcept = 0;
  virtual void note_access(void const* location, bool is_written) noexcept = 0;
  /// Time passes: every later step comes after every earlier one.
  virtual void note_time() noexcept = 0;
  /// The running process has failed, or no process can go on: all others are cancelled.
  virtual void note_all_cancelled() noexcept = 0;
  /// `clone` continues as `from` does.  Both access `shared`, and the second one finds it taken.
  virtual void note_fork(process_id from, process_id clone, void const* shared) noexcept = 0;
  /// The running process is run again from its beginning.
  virtual void note_rerun() noexcept = 0;

  /// Null unless schedules are explored on this thread by a strategy that needs the accesses.
  [[gnu::visibility("default")]] static inline constinit thread_local location_listener* of_thread =
      nullptr;

 protected:
  ~location_listener() = default;
};

/// Called by the constructor of the object at that location.
constexpr void note_created(void const* location) noexcept {
  if (std::is_constant_evaluated()) return;
  if (auto* const l = location_listener::of_thread) [[unlikely]]
    l->note_created(location);
}
/// Called by its destructor: a later object at the same address is another location.
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
