// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "effects/handle.hpp"
#include "effects/multi_resumption.hpp"
#include "effects/proc.hpp"
#include "effects/region.hpp"
#include "effects/resumption.hpp"
#include "sched/backend.hpp"
#include "sched/one_thread.hpp"
#include "sched/thunk.hpp"

namespace weft {

/// Handles `proc` by boxing what is left of each process and putting it off: the scheduler of
/// seed 002, clause by clause.
///
/// Most programs want schedule() (sched/schedule.hpp).  One thread.
template <backend Backend = one_thread>
class scheduler : public handler<proc>, public region {
 public:
  void on(proc::yield, resumption<void> k) { ready_.put(box(std::move(k))); }

  void on(proc::fork, multi_resumption<bool> k) {
    ready_.put(box(k, true));
    ready_.put(box(std::move(k), false));
  }

  void on(proc::exit, resumption<never>) {}  // nobody will resume it

  /// Runs what waits until nothing does.  Throws what a process throws; the others go on waiting.
  void run() {
    while (auto next = ready_.take()) std::move(*next).resume();
  }

 private:
  Backend ready_;
};

}  // namespace weft
