// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>

#include "weft/sched/base/detail/program.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/process_id.hpp"

namespace weft::detail {

/// The data for a direct spawn: the coroutine that spawns calls the function itself, with the
/// arguments in registers, and gives the scheduler the new frame.
///
///   DIRECT-3  A spawn is direct only if the scheduler that runs on this thread would answer the
///       operation at once, in the same way: the evidence is the scheduler's, so no handler stands
///       in between, and neither the process that spawns nor the child keeps a log.  A scheduler
///       that has several threads, limits the processes, explores, or keeps a trace answers each
///       spawn itself.
///   DIRECT-4  A direct spawn, like the scheduler, takes the number of the child before it calls
///       the function.  So a function that throws uses up a number either way.
struct direct_spawn {
  /// The scheduler's evidence for spawning<>, for processes without a log.  Null if no spawn is
  /// direct.
  void const* general = nullptr;
  /// The evidence for spawning<...> that passed the last spawn on to `general`
  /// (delegating_evidence.hpp).
  void const* evidence = nullptr;
  worker_state* worker = nullptr;  // the worker of this thread
  /// Starts the n-th child of the running process at the frame `first`.  If it throws bad_alloc, it
  /// has destroyed the frame.
  process_id (*begin)(worker_state& w, std::uint32_t n, std::coroutine_handle<> first,
                      row_info const& row) = nullptr;

  /// The process that spawns, if a spawn by the evidence `by` may be direct; else null.
  [[nodiscard, gnu::always_inline]] process* spawner(void const* by) const noexcept {
    if (by != evidence) [[unlikely]]
      return nullptr;
    process* const p = worker->running;
    return p && !p->is_forkable() ? p : nullptr;
  }
  /// Called when the evidence `by` has passed a spawn on to the evidence `to`, which has answered
  /// it: if `to` is `general`, the next spawn by `by` may be direct.
  static void note(void const* by, void const* to) noexcept {
    if (to == of_thread.general) of_thread.evidence = by;
  }

  /// The data of the scheduler that runs on this thread.
  [[gnu::visibility("default")]] static thread_local constinit direct_spawn of_thread;
};
inline thread_local constinit direct_spawn direct_spawn::of_thread;

/// While an object of this class lives, spawns on this thread may be direct, by the data `s`.
class direct_spawn_here {
 public:
  explicit direct_spawn_here(direct_spawn const& s) noexcept
      : before_(std::exchange(direct_spawn::of_thread, s)) {}
  direct_spawn_here(direct_spawn_here const&) = delete;
  direct_spawn_here& operator=(direct_spawn_here const&) = delete;
  ~direct_spawn_here() { direct_spawn::of_thread = before_; }

 private:
  direct_spawn const before_;
};

}  // namespace weft::detail
