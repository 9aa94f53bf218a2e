// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

#include "effects/operation.hpp"
#include "sched/thunk.hpp"

namespace weft {

namespace detail {
class scheduling_base;
}  // namespace detail

/// What processes wait at: the thing behind locks, messages and timers, and for those of one's own.
///
///     if (empty) co_await syncing::wait{at};
///     ...
///     co_await syncing::wake{at};
///
/// A list of processes, the longest waiting first; it knows no condition.  It belongs to one
/// scheduler while somebody waits.  When it ends, those who wait there find `cancelled`.
class gate {
 public:
  gate() = default;
  gate(gate const&) = delete;
  gate& operator=(gate const&) = delete;
  inline ~gate();

  /// How many wait.
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }

 private:
  friend class detail::scheduling_base;

  std::deque<thunk> waiting_;
  detail::scheduling_base* home_ = nullptr;  // while somebody waits
  gate* next_ = nullptr;                     // of the gates at which somebody waits
  gate* previous_ = nullptr;
};

/// Waiting for one another.
struct syncing {
  /// Until somebody wakes us at that gate.
  struct wait : op<void> {
    explicit wait(gate& g) noexcept : at(&g) {}
    gate* at;
    friend std::size_t hash_value(wait const&) { return 0; }  // addresses differ from run to run
  };
  /// Those who wait longest go on in their turn, `most` of them.
  struct wake : op<void> {
    explicit wake(gate& g, std::size_t n = 1) noexcept : at(&g), most(n) {}
    gate* at;
    std::size_t most;
    friend std::size_t hash_value(wake const&) { return 0; }
  };
  using operations = op_list<wait, wake>;
};

}  // namespace weft
