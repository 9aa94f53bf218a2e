// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <utility>

#include "sched/runtime/detail/scheduling.hpp"

/// What a scheduler does where schedules are explored in steps as small as operations: who performs
/// one on something shared is put back first, and performs it when it is chosen.
namespace weft::detail {

/// Whether it does its step at all depends on the groups in which it stands: it looks, whatever it
/// finds (CANCEL-6 of wake_if.hpp).
template <backend Backend>
void scheduling<Backend>::asks_its_groups(process const& p) const noexcept {
  if (this->has_tasks_ && p.is_waiting() && !backend_->events().has(p))
    (void)is_told_to_end(p.leaf());
}
template <backend Backend>
bool scheduling<Backend>::lets_others_first() noexcept {
  if constexpr (explores) {
    if (!backend_->is_parallel() || !is_running()) return false;
    if (!this->is_cancelling() && !this->log_of_running().replaying() && !prompt::arena_here())
      return true;
    backend_->events().happen_all_of(running());  // EVENT-1: the operation is performed now
  }
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

// ---- events (deferred_events.hpp)

/// Not of one inside ordinary code, which cannot be stopped at its next operation, nor inside a
/// scheduler of its own.
template <backend Backend>
process* scheduling<Backend>::whose_events_are_put_off() noexcept {
  return is_running() && this->is_active() && lets_others_first() ? &running() : nullptr;
}
template <backend Backend>
bool scheduling<Backend>::has_events() noexcept {
  if constexpr (explores)
    return is_running() && backend_->events().has(running());
  else
    return false;
}
template <backend Backend>
void scheduling<Backend>::events_happen_now() noexcept {
  if constexpr (explores)
    if (is_running()) backend_->events().happen_all_of(running());
}
template <backend Backend>
bool scheduling<Backend>::puts_off_end(put_off_events::end e) noexcept {
  if constexpr (explores) {
    process* const p = e.who;
    auto& all = backend_->events();
    if (!whose_events_are_put_off() || (!e.is_a_step && !all.has(*p))) return false;
    bool const is_of_a_task = e.task != nullptr;
    try {
      all.put(std::move(e));
    } catch (...) {  // EVENT-4
      all.happen_all_of(*p);
      return false;
    }
    if (is_of_a_task) p->has_ended_elsewhere();
    here().running = nullptr;
    p->must_be_prepared();
    put(thunk(p), why::yielded);
    return true;
  } else {
    return false;
  }
}
/// Its next event takes effect, or its end.  Whether that was all of its step.
template <backend Backend>
bool scheduling<Backend>::does_what_comes_first(process* p, std::uint64_t answer) noexcept {
  if constexpr (explores) {
    auto& all = backend_->events();
    if (all.is_empty()) [[likely]]
      return false;
    if (all.has(*p)) {
      here().running = p;
      if (!this->is_cancelling()) all.happen_first_of(*p);
      if (this->is_cancelling()) all.happen_all_of(*p);  // perhaps by what just happened
      here().running = nullptr;
      auto const& pending = process_place<typename Backend::place>(*p).pending;
      auto const* const end = all.end_of(*p);
      if (all.has(*p) || (pending.perform && pending.is_a_step) || (end && end->is_a_step)) {
        if (!this->is_cancelling()) return put(thunk(p, answer), why::yielded), true;
      }
    }
    if (auto e = all.take_end(p); e.who) return ends_now(std::move(e)), true;
  }
  return false;
}
template <backend Backend>
void scheduling<Backend>::ends_now(put_off_events::end e) noexcept {
  if constexpr (explores) {
    auto& all = backend_->events();
    if (auto const end_task = std::exchange(e.is_over, nullptr)) {
      here().running = e.who;
      end_task(this, std::exchange(e.task, nullptr));
      if (all.has(*e.who)) {
        e.is_a_step = false;
        process& p = *e.who;
        if (puts_off_end(e)) return;  // without memory its error is needed below
        all.happen_all_of(p);
      }
      here().running = nullptr;
    }
    bury(e.who, std::move(e.error));
  }
}
/// Nobody runs any more: those who stand at the end of a scope wait for what is left there.
template <backend Backend>
void scheduling<Backend>::drop_pending() noexcept {
  if constexpr (explores)
    worker_->take_out([this](thunk& t) {
      process& p = *t.get();
      auto const pending = process_place<typename Backend::place>(p).pending;
      if (pending.drop) pending.drop(this, *t.release(), pending);
    });
}
/// The same.
template <backend Backend>
void scheduling<Backend>::end_all_that_is_put_off() noexcept {
  if constexpr (explores) {
    auto& all = backend_->events();
    if (all.is_empty()) [[likely]]
      return;
    while (process const* const p = all.who_is_first()) all.happen_all_of(*p);
    for (auto e = all.take_end(nullptr); e.who; e = all.take_end(nullptr))
      if (e.is_over) e.is_over(this, e.task);
  }
}

}  // namespace weft::detail
