// SPDX-License-Identifier: MIT
#include "weft/sched/sync/detail/timers.hpp"

#include <vector>

#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"

namespace weft::detail {

timers::timers(ready_sink& sink, bool several_threads) noexcept
    : sink_(sink), has_several_threads_(several_threads) {}
timers::~timers() = default;

void timers::push(entry const& e) { heap_.push_back(e); }

void timers::cancel_all() noexcept {
  while (process* const p = take_any()) sink_.make_cancelled(*p);
}
void timers::drop_all() noexcept {
  while (process* const p = take_any()) (void)thunk(p);
}

void timers::close() noexcept {
  auto const locked = lock();
  closed_ = true;
}
void timers::reopen() noexcept {
  auto const locked = lock();
  closed_ = false;
}

}  // namespace weft::detail
