// SPDX-License-Identifier: MIT
#include "weft/sched/sync/barrier.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "weft/effects/detail/internal.hpp"
#include "weft/sched/base/errors.hpp"

namespace weft {

barrier::barrier(std::uint32_t n) : state_(std::make_shared<shared_state>(n)) {
  if (n == 0) throw std::invalid_argument("weft: a barrier is for at least one process");
}

barrier::shared_state::shared_state(std::uint32_t n) noexcept : all(n) {
  next_round.belongs_to(detail::internal(), *this);
}
barrier::shared_state::~shared_state() = default;

void barrier::shared_state::describe(deadlock::waiter& w, std::size_t) const {
  // relaxed: no process runs.
  auto const come = static_cast<std::uint32_t>(word.load(std::memory_order_relaxed));
  w.reason = "the others at a barrier: " + std::to_string(come) + " of " + std::to_string(all) +
             (come == 1 ? " has" : " have") + " arrived";
}

}  // namespace weft
