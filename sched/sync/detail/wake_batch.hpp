// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "weft/sched/base/process.hpp"

namespace weft::detail {

/// Processes that a taker has taken off lists, with their counts, while it holds a lock: the taker
/// puts them when it holds no lock (waiter.hpp, WAITER-3).
///
/// Allocates from the 33rd process on; if there is no memory, the taker puts the processes that the
/// batch holds, and begins again.  Used by one thread.
class wake_batch {
 public:
  wake_batch() = default;
  wake_batch(wake_batch const&) = delete;
  wake_batch& operator=(wake_batch const&) = delete;

  /// Makes room for one more process.  False if there is no memory.
  [[nodiscard]] bool reserve_one() noexcept {
    return count_ != few_.size() || more_.size() != more_.capacity() || grow();
  }
  /// Adds a process; reserve_one() has made room for it.
  void add(process& p) noexcept {
    if (count_ != few_.size())
      few_[count_++] = &p;
    else
      add_slow(p);
  }
  /// Calls `f(process&)` for each process, in the order in which they were taken.
  template <class F>
  void for_each(F f) {
    for (std::size_t i = 0; i != count_; ++i) f(*few_[i]);
    for (process* const p : more_) f(*p);
  }

 private:
  [[nodiscard]] bool grow() noexcept;
  void add_slow(process& p) noexcept;

  std::array<process*, 32> few_;
  std::size_t count_ = 0;
  std::vector<process*> more_;
};

}  // namespace weft::detail
