// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <utility>

#include "sched/detail/scheduling.hpp"

/// What a scheduler does where schedules are explored in steps as small as operations: who performs
/// one on something shared is put back first, and performs it when it is chosen.
namespace weft::detail {

/// Whether it does its step at all depends on the groups in which it stands: it looks, whatever it
/// finds (K6 of waking.hpp).
template <backend Backend>
void scheduling<Backend>::asks_its_groups(process const& p) const noexcept {
  if (this->has_tasks_ && p.is_waiting()) (void)is_told_to_end(p.leaf());
}
template <backend Backend>
bool scheduling<Backend>::lets_others_first() noexcept {
  if constexpr (requires { backend_->is_parallel(); })
    return backend_->is_parallel() && is_running() && !this->is_cancelling() &&
           !this->log_of_running().replaying() && !prompt::arena_here();
  else
    return false;
}
template <backend Backend>
template <class O>
bool scheduling<Backend>::stop_before(O const& o, std::coroutine_handle<> leaf, awaited& waiting) {
  process& p = running();
  if (p.is_forkable()) static_cast<forkable_process&>(p).waits_at(site_of(o, waiting.where));
  return p.stop_at(info_of<O>, leaf, waiting, *this);
}
template <backend Backend>
void scheduling<Backend>::put_pending(pending_operation const& o) noexcept {
  process& p = running();
  process_place<typename Backend::place>(p).pending = o;
  p.must_be_prepared();
  put(box(), why::yielded);
}
template <backend Backend>
pending_operation scheduling<Backend>::take_pending(process& p) noexcept {
  if constexpr (explores)
    return std::exchange(process_place<typename Backend::place>(p).pending, {});
  else
    return {};
}

}  // namespace weft::detail
