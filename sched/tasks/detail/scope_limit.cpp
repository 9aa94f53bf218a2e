// SPDX-License-Identifier: MIT
#include "weft/sched/tasks/detail/scope_limit.hpp"

#include <atomic>

#include "weft/effects/eff.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/relax.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/tasks/detail/scope_core.hpp"

namespace weft::detail {

namespace {
/// The link whose canceller is cancelling its scope on this thread.  If there is no memory to make
/// a cancelled process ready, that process is unwound meanwhile, and the scope may end with it:
/// then link::end() sets this variable to null.
constinit thread_local void const* firing_here = nullptr;
}  // namespace

eff<void> scope_limit::cancels(end_of_link at) {
  at.get()->home.count_canceller();
  at.get()->fire();
  co_return;
}

void scope_limit::link::fire() noexcept {
  note_access(this, true);
  state now = state::armed;
  // relaxed: the link was written before the put of its canceller, which happens before this turn
  // of the canceller (BACKEND-1); of the scope, only its own locks and atomics are used.
  if (!is.compare_exchange_strong(now, state::at_it, std::memory_order_relaxed)) return;
  why = requested.is_open() ? reason::stop : reason::deadline;
  auto const* const outer = std::exchange(firing_here, this);
  home.cancel(of);
  // True only if there was no memory (firing_here).
  bool const is_over = std::exchange(firing_here, outer) == nullptr;
  // release: pairs with [1] in end(): the scope ends only after cancel() has accessed it.
  if (!is_over) is.store(state::done, std::memory_order_release);
}

scope_limit::reason scope_limit::link::end() noexcept {
  note_access(this, true);
  state now = state::armed;
  // relaxed: a canceller that finds `over` reads no more.
  if (is.compare_exchange_strong(now, state::over, std::memory_order_relaxed)) return reason::none;
  if (firing_here == this)
    firing_here = nullptr;
  else
    // [1] acquire: pairs with the store of `done` in fire().
    for (relax wait; is.load(std::memory_order_acquire) == state::at_it; wait()) {
    }
  return why;
}

scope_limit::reason scope_limit::end() noexcept {
  listening_.reset();  // waits for a request that has begun
  if (!link_) return reason::none;
  if (process* const p = here_.parked.take()) (void)thunk(p);
  reason const why = link_->get()->end();
  link_.reset();
  return why;
}

void scope_limit::opens::operator()() const noexcept {
  try {
    what.open();
  } catch (...) {  // only if the backend reserves no memory: the scope goes on
  }
}

}  // namespace weft::detail
