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

/// What a spawn needs to know about its scheduler to be done by the coroutine that spawns: it calls
/// the function itself, with the arguments in registers, and gives the scheduler the frame.
///
///   DIRECT-3  It is done so only if the scheduler that runs on this thread would answer the
///       operation at once, in the same way: the evidence is the scheduler's, so no handler and no
///       log stands in between, and the process keeps none.  A scheduler that has several threads,
///       limits the processes, explores, or keeps a trace answers each spawn itself.
///   DIRECT-4  The number of the child is taken before the function is called, as by the scheduler:
///       so a function that throws uses up a number either way.
struct direct_spawn {
  /// The scheduler's evidence for spawning<>, for processes without a log.  Null: no spawn is done
  /// directly.
  void const* general = nullptr;
  /// The evidence for the row of the last spawn that the scheduler has answered by `general`.
  void const* evidence = nullptr;
  worker_state* worker = nullptr;  // of this thread
  /// Starts a child of the running process, the n-th, at that frame; destroys the frame if it
  /// throws bad_alloc.
  process_id (*begin)(worker_state& w, std::uint32_t n, std::coroutine_handle<> first,
                      row_info const& row) = nullptr;

  /// The process that spawns, if a spawn that is performed by that evidence may be done directly;
  /// else null.
  [[nodiscard, gnu::always_inline]] process* spawner(void const* by) const noexcept {
    if (by != evidence) [[unlikely]]
      return nullptr;
    process* const p = worker->running;
    return p && !p->is_forkable() ? p : nullptr;
  }
  /// Called when the evidence `by` has answered a spawn by the evidence `to`.
  static void note(void const* by, void const* to) noexcept {
    if (to == of_thread.general) of_thread.evidence = by;
  }

  /// Of the scheduler that runs on this thread.
  [[gnu::visibility("default")]] static thread_local constinit direct_spawn of_thread;
};
inline thread_local constinit direct_spawn direct_spawn::of_thread;

/// While it lives, spawns are done directly on this thread.
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
