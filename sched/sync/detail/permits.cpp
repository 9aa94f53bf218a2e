// SPDX-License-Identifier: MIT
#include "weft/sched/sync/detail/permits.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "weft/effects/detail/internal.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/sync/gate.hpp"

namespace weft::detail {

permits::permits(std::size_t n, kind k) noexcept : left_(n), first_(n), kind_(k) {
  freed_.belongs_to(internal(), *this);
}
std::shared_ptr<permits> permits::make(std::size_t n, kind k) {
  return std::make_shared<permits>(n, k);
}
permits::~permits() = default;

void permits::close() noexcept {
  closed_.store(true, std::memory_order_relaxed);  // relaxed: as in try_take()
  freed_.release_all_now(internal());
}

void permits::describe(deadlock::waiter& w, std::size_t waiting) const {
  if (kind_ == kind::semaphore)
    w.reason = "a permit of a semaphore, which has " +
               // relaxed: no process runs.
               std::to_string(left_.load(std::memory_order_relaxed)) + " left and was made with " +
               std::to_string(first_) + ": " + text_of_waiters(waiting);
  if (holding_) w.held_by = deadlock::holder{holding_->process, text(holding_->since)};
}

}  // namespace weft::detail
