// SPDX-License-Identifier: MIT
#include "weft/testing/detail/one_run.hpp"

#include <utility>

#include "weft/effects/memory/frame_pool.hpp"
#include "weft/sched/runtime/detail/running.hpp"
#include "weft/sched/runtime/detail/scheduler_members.hpp"
#include "weft/testing/detail/controlled_backend.hpp"

namespace weft::detail {

bool kept_scheduler::begin_run(strategy& c, run_log& log, run_limits const& limits) {
  if (state_) return state_->base().begin_run(c, log, limits), false;
  before_ = frames.alive();
  state_ = new backend_scheduler<controlled_backend>(c, log, limits);
  return true;
}
void kept_scheduler::end_run(bool has_ended) noexcept {
  if (!has_ended || !exploring_observer::try_reset(*state_)) end();
}
void kept_scheduler::end() noexcept {
  blocks_ = 0;
  if (state_) std::exchange(state_, nullptr)->end();
}

template class backend_scheduler<controlled_backend>;
template class backend_scheduler<tracing<controlled_backend>>;

}  // namespace weft::detail
