// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/thunk.hpp"

namespace weft {

/// A task that its owner, the process that waits for the task, will call, unless a worker takes the
/// task first: another worker, or the owner's own between two steps (BACKEND-7).  A task that is
/// taken becomes a process.  A task that is called costs no process, and no other thread is
/// notified of it unless one sleeps.
///
/// Source: E. Mohr, D. A. Kranz, R. H. Halstead, Lazy task creation: a technique for increasing the
/// granularity of parallel programs, LFP 1990, doi:10.1145/91556.91631.
class lazy_task : public detail::frame_end {
 public:
  lazy_task(lazy_task const&) = delete;
  lazy_task& operator=(lazy_task const&) = delete;

  /// Makes the task a ready process, and returns its thunk.  Called by the thread that has taken
  /// the task; the process then belongs to that thread.  If no process can be made, or the task is
  /// cancelled, this settles the task and returns an empty thunk.  Allocates the process.
  [[nodiscard]] virtual thunk promote() noexcept = 0;

  // ---- as a frame_end (the outer end of a chain of frames), only so that weft's tasks, which are
  // both, need one vtable.  These defaults are never called for a task without frames.

  detail::continuation ended() noexcept override { return outside(); }
  detail::continuation dropped() noexcept override { return outside(); }
  [[nodiscard]] std::string text() const override { return "a lazy task"; }
  [[nodiscard]] detail::continuation outside() const noexcept override {
    return detail::continuation::ordinary_code();
  }
  [[nodiscard]] bool lost() const noexcept override { return false; }

 protected:
  lazy_task() = default;
  ~lazy_task() = default;
};

}  // namespace weft
