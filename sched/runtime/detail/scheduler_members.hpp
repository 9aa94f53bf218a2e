// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

#include "weft/effects/proc.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/mail/detail/receive_clauses.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/mail/routing.hpp"
#include "weft/sched/runtime/detail/backend_scheduler.hpp"
#include "weft/sched/runtime/detail/process_clauses.hpp"
#include "weft/sched/runtime/detail/replaying.hpp"
#include "weft/sched/runtime/detail/running.hpp"
#include "weft/sched/runtime/detail/task_dispatch.hpp"
#include "weft/sched/runtime/detail/timekeeping.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/sync/detail/sync_clauses.hpp"
#include "weft/sched/sync/gate.hpp"
#include "weft/sched/sync/timing.hpp"
#include "weft/sched/tasks/detail/join_algorithm.hpp"
#include "weft/sched/tasks/detail/scope_algorithm.hpp"
#include "weft/sched/tasks/detail/task_cancelling.hpp"
#include "weft/sched/tasks/detail/task_unwinding.hpp"
#include "weft/sched/tasks/tasking.hpp"

/// The members of a backend_scheduler that are no templates of their own: backend_scheduler.cpp
/// compiles them, and what they call, once for each backend of the library.
namespace weft::detail {

template <backend Backend>
void backend_scheduler<Backend>::learn(identity<yielding>) {
  effects.learn(scheduled_effect<yielding>(*this));
}
template <backend Backend>
void backend_scheduler<Backend>::learn(identity<proc>) {
  effects.learn(scheduled_effect<proc>(*this));
}
template <backend Backend>
void backend_scheduler<Backend>::learn(identity<syncing>) {
  effects.learn(scheduled_effect<syncing>(*this));
}
template <backend Backend>
void backend_scheduler<Backend>::learn(identity<completions>) {
  effects.learn(scheduled_effect<completions>(*this));
}
template <backend Backend>
void backend_scheduler<Backend>::learn(identity<timing>) {
  effects.learn(scheduled_effect<timing>(*this));
}
template <backend Backend>
void backend_scheduler<Backend>::learn(identity<mail>) {
  effects.learn(scheduled_effect<mail>(*this));
}
template <backend Backend>
void backend_scheduler<Backend>::learn(identity<routing>) {
  effects.learn(scheduled_effect<routing>(*this));
}
template <backend Backend>
void backend_scheduler<Backend>::learn(identity<spawning<>> e) {
  effects.learn(general(e));
}
template <backend Backend>
void backend_scheduler<Backend>::learn(identity<tasking<>> e) {
  effects.learn(general(e));
}
template <backend Backend>
known_effect const& backend_scheduler<Backend>::general(identity<spawning<>>) {
  if (!spawning_.effect) spawning_ = scheduled_effect<spawning<>>(*this);
  return spawning_;
}
template <backend Backend>
known_effect const& backend_scheduler<Backend>::general(identity<tasking<>>) {
  note_pinning();
  if (!tasking_.effect) tasking_ = scheduled_effect<tasking<>>(*this);
  return tasking_;
}
template <backend Backend>
void backend_scheduler<Backend>::start(start_options how, class program* first, bool forkable) {
  start_first(*this, std::move(how), first, forkable);
}
template <backend Backend>
void backend_scheduler<Backend>::run() {
  run_to_end(*this);
}
template <backend Backend>
bool backend_scheduler<Backend>::step() {
  return run_step(*this);
}
template <backend Backend>
poll_result backend_scheduler<Backend>::poll(std::size_t most) {
  if constexpr (on_several_threads)
    return poll_result::ended;  // never called: scheduler::poll() does not compile
  else
    return run_ready(*this, most);
}
template <backend Backend>
void backend_scheduler<Backend>::end() noexcept {
  end_scheduler(*this);
}

template <backend Backend>
[[gnu::noinline]] std::coroutine_handle<> backend_scheduler<Backend>::prepare(
    process* p, std::uint64_t answer) noexcept {
  here().running = nullptr;
  if (observer::applies_first(*this, p, answer)) return nullptr;
  try {
    if (p->is_forkable()) {
      p = make_sole_owner(*this, static_cast<forkable_process*>(p));
      static_cast<forkable_process&>(*p).claim_frames(*this);
    }
    auto const pending = observer::take_pending(*this, *p);
    if (p->was_cut()) throw p->cut_error();
    bool const all_are = cancellation.is_of_all() && !submissions::is_new_internal(*p);
    bool const is_cancelled = all_are || cancellation.includes_by_group(*p);
    // A process that has an answer goes on with it (WAITER-5).  A pending operation is performed,
    // and finds the cancellation of a group by itself; if all processes are cancelled, it is
    // performed only if it must be answered.
    bool const heeds = pending.perform ? all_are && !p->requires_answer() : !p->has_answer();
    if (is_cancelled && heeds) {
      if (all_are) cancellation.note_found();
      // A process that has not begun, or whose frames were cut, is dropped: no code of it would
      // learn of the cancellation.
      if (!p->has_started() || !p->is_suspended()) return retire(p, nullptr), nullptr;
      if (!p->requires_answer()) {
        if (has_ignored_enough(*this, *p)) return unwind_ignorant(*this, *p);
        p->fail(std::make_exception_ptr(all_are ? why_all_cancelled() : why_group_cancelled()));
      }
    } else if (pending.perform) {
      here().running = p;
      return pending.perform(this, *p, pending);
    }
    if (p->is_forkable()) prepare_log(*this, static_cast<forkable_process&>(*p), answer);
  } catch (...) {
    return retire(p, std::current_exception()), nullptr;
  }
  observer::on_resume(*this, *p, answer);
  here().running = p;
  return p->resume_slow(answer, *this);
}

template <backend Backend>
[[gnu::noinline]] continuation backend_scheduler<Backend>::finished_slow(process& p) noexcept {
  std::exception_ptr error = p.take_result();
  if (p.is_forkable()) [[unlikely]] {
    replay_log const& log = log_of_running();
    if (log.replaying() && (log.diverged() || !error))
      error = std::make_exception_ptr(log.divergence());
  }
  if (observer::defers_end(*this, p, error)) return next();
  here().running = nullptr;
  retire(&p, std::move(error));
  return next();
}

}  // namespace weft::detail
