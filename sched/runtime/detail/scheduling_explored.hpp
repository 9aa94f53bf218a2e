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
    (void)is_cancelled_at(p.leaf());
}
template <backend Backend>
bool scheduling<Backend>::lets_others_first() noexcept {
  if constexpr (explores) {
    if (!backend_->is_parallel() || !is_running()) return false;
    if (!this->is_cancelling() && !this->log_of_running().replaying() && !prompt::arena_here())
      return true;
    backend_->events().apply_all_of(running());  // EVENT-1: the operation is performed now
  }
  return false;
}
template <backend Backend>
template <class O>
bool scheduling<Backend>::stop_before(O const& o, std::coroutine_handle<> leaf,
                                      result_slot_base& waiting) {
  process& p = running();
  if (p.is_forkable()) static_cast<forkable_process&>(p).waits_at(site_of(o, waiting.where));
  return p.stop_at(info_of<O>, leaf, waiting, *this);
}
template <backend Backend>
void scheduling<Backend>::put_pending(pending_operation const& o) noexcept {
  process& p = running();
  header_of<typename Backend::header>(p).pending = o;
  p.must_be_prepared();
  put(box(), put_reason::yielded);
}
template <backend Backend>
pending_operation scheduling<Backend>::take_pending(process& p) noexcept {
  if constexpr (explores)
    return std::exchange(header_of<typename Backend::header>(p).pending, {});
  else
    return {};
}

// ---- events (deferred_events.hpp)

/// Not of one inside ordinary code, which cannot be stopped at its next operation, nor inside a
/// scheduler of its own.
template <backend Backend>
process* scheduling<Backend>::process_with_deferred_events() noexcept {
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
void scheduling<Backend>::apply_own_events() noexcept {
  if constexpr (explores)
    if (is_running()) backend_->events().apply_all_of(running());
}
template <backend Backend>
bool scheduling<Backend>::defers_end(deferred_events::end e) noexcept {
  if constexpr (explores) {
    process* const p = e.who;
    auto& all = backend_->events();
    if (!process_with_deferred_events() || (!e.is_a_step && !all.has(*p))) return false;
    bool const is_of_a_task = e.task != nullptr;
    try {
      all.put(std::move(e));
    } catch (...) {  // EVENT-4
      all.apply_all_of(*p);
      return false;
    }
    if (is_of_a_task) p->has_ended_elsewhere();
    here().running = nullptr;
    p->must_be_prepared();
    put(thunk(p), put_reason::yielded);
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
      if (!this->is_cancelling()) all.apply_first_of(*p);
      if (this->is_cancelling()) all.apply_all_of(*p);  // perhaps by what just happened
      here().running = nullptr;
      auto const& pending = header_of<typename Backend::header>(*p).pending;
      auto const* const end = all.end_of(*p);
      if (all.has(*p) || (pending.perform && pending.is_a_step) || (end && end->is_a_step)) {
        if (!this->is_cancelling()) return put(thunk(p, answer), put_reason::yielded), true;
      }
    }
    if (auto e = all.take_end(p); e.who) return ends_now(std::move(e)), true;
  }
  return false;
}
template <backend Backend>
void scheduling<Backend>::ends_now(deferred_events::end e) noexcept {
  if constexpr (explores) {
    auto& all = backend_->events();
    if (auto const end_task = std::exchange(e.is_over, nullptr)) {
      here().running = e.who;
      end_task(this, std::exchange(e.task, nullptr));
      if (all.has(*e.who)) {
        e.is_a_step = false;
        process& p = *e.who;
        if (defers_end(e)) return;  // without memory its error is needed below
        all.apply_all_of(p);
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
      auto const pending = header_of<typename Backend::header>(p).pending;
      if (pending.drop) pending.drop(this, *t.release(), pending);
    });
}
/// The same.
template <backend Backend>
void scheduling<Backend>::apply_all_deferred() noexcept {
  if constexpr (explores) {
    auto& all = backend_->events();
    if (all.is_empty()) [[likely]]
      return;
    while (process const* const p = all.owner_of_first()) all.apply_all_of(*p);
    for (auto e = all.take_end(nullptr); e.who; e = all.take_end(nullptr))
      if (e.is_over) e.is_over(this, e.task);
  }
}

}  // namespace weft::detail
