// SPDX-License-Identifier: MIT
#pragma once

#include "weft/sched/base/detail/injection_node.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"

namespace weft::detail {

/// The part of a scheduler that makes processes ready: the lists on which processes wait call it.
class ready_sink {
 public:
  /// Makes a process ready.  Called on a thread of the scheduler, or while no thread runs it.
  virtual void make_ready(thunk t) noexcept = 0;
  /// Makes a process ready, on any thread.  If the call throws, `t` is unchanged.
  virtual void put_from_outside(thunk& t) = 0;
  /// Makes a process ready, on any thread, with the memory of a node from reserve_put().  Cannot
  /// throw on a reserving_backend.
  virtual void put_from_outside(thunk& t, spare_node in) = 0;
  /// Allocates the memory for one put_from_outside().  Throws bad_alloc.
  [[nodiscard]] virtual spare_node reserve_put() = 0;

  /// Makes a process ready because its wait is cancelled.
  void wake_cancelled(process& p) noexcept {
    p.mark_cancellable();
    make_ready(thunk(&p));
  }

 protected:
  ~ready_sink() = default;
};

/// Answers the wait of a process with `cancelled`, as the object at which it waits is destroyed.
[[gnu::cold]] void fail_cancelled(process& p) noexcept;

}  // namespace weft::detail
