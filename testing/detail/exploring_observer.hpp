// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/observer.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/mail/routing.hpp"
#include "weft/testing/detail/outer_watcher.hpp"
#include "weft/testing/detail/small_steps.hpp"

namespace weft::detail {

/// The observer of an explorer's backend: reports the accesses that no operation reports by itself,
/// and makes operations, events (deferred_events.hpp) and ends of processes steps of their own.
struct exploring_observer : no_observer {
  static constexpr bool is_there = true;
  static constexpr bool limits_steps = false;  // no step ends because it has many operations
  static constexpr bool outside_may_come = false;

  // ---- accesses

  template <class S>
  static void on_made(S& s) noexcept {
    s.base().set_scheduler(
        &s, [](void* home) noexcept { return process_with_events(*static_cast<S*>(home)); });
  }
  template <class F>
  static void on_learnt(auto& s) {
    if constexpr (std::is_same_v<F, routing>)
      (void)s.waits.mail().routes();  // makes the route table before processes run (ROUTE-5)
  }
  static void on_spawn(auto& s, process_id id, std::source_location where) noexcept {
    s.base().note_spawned(id, where);
  }
  static void on_fork(auto&, auto& parent, auto& clone) noexcept {
    note_fork(parent.id(), clone.id(), clone.shared_frames());
  }
  static void on_fork_refused(auto& s) noexcept { s.base().note_fork_without_log(); }
  static void on_rerun(auto&) noexcept { note_rerun(); }
  /// Called when `p`, which may wait, is made ready.  If a group around `p` had been cancelled
  /// before, `p` would find the cancellation instead, so the wake-up reads the groups (CANCEL-6).
  static void on_wake(auto& s, process const& p) noexcept {
    if (s.base().had_groups && s.running_here() && p.is_suspended())
      (void)is_cancelled_at(p.leaf());
  }
  /// Called before a step of `p`, in which `p` checks whether a group around it is cancelled.  The
  /// check is an access, whatever its outcome (CANCEL-6).
  static void on_step(auto& s, process const& p) noexcept {
    if (s.base().had_groups && p.is_suspended() && !s.base().events().has(p))
      (void)is_cancelled_at(p.leaf());
  }
  static void on_retire(auto& s, process const& p) noexcept { s.base().events().apply_all_of(p); }
  static void on_group(auto& s) noexcept { s.base().had_groups = true; }
  static void on_clock(auto&) noexcept { note_clock(); }
  static void on_time(auto&) noexcept { note_time(); }
  static void on_send(auto&, auto& box) noexcept { box.note_use(); }
  static void on_receive(auto&, auto& box) noexcept { note_access(&box, true); }
  static void on_touch(auto&, void const* location, bool writes) noexcept {
    note_access(location, writes);
  }
  template <class F, class Find, class S>
  static evidence<F>* watched(S& s, evidence<F>& handler, evidence<F>* further_out) {
    using watcher = outer_watcher<S, F>;
    constexpr bool far = Find::performs_outward;
    watcher nearest(s, &handler, far, Find::template reports_accesses<F>);
    nearest.note_created();
    return interpose<F>(s, std::move(nearest), watcher(s, further_out, far, false));
  }

  // ---- steps

  template <class Dispatch>
  using dispatch = stepwise<Dispatch>;

  static bool has_events(auto& s, process const& p) noexcept { return s.base().events().has(p); }
  static bool applies_first(auto& s, process* p, std::uint64_t answer) noexcept {
    auto& all = s.base().events();
    if (all.is_empty()) [[likely]]
      return false;
    if (all.has(*p)) {
      s.here().running = p;
      if (!s.cancellation.is_of_all()) all.apply_first_of(*p);
      if (s.cancellation.is_of_all()) all.apply_all_of(*p);  // the event may have cancelled all
      s.here().running = nullptr;
      auto const& pending = pending_of(*p);
      auto const* const end = all.end_of(*p);
      if (all.has(*p) || (pending.perform && pending.is_a_step) || (end && end->is_a_step)) {
        if (!s.cancellation.is_of_all()) return s.put(thunk(p, answer), put_reason::yielded), true;
      }
      on_step(s, *p);  // the process goes on in the step of its last event
    }
    if (auto e = all.take_end(p); e.owner) return apply_end(s, std::move(e)), true;
    return false;
  }
  static pending_operation take_pending(auto&, process& p) noexcept {
    auto& pending = pending_of(p);
    return pending.perform ? std::exchange(pending, {}) : pending_operation();
  }
  /// Defers the end of a process, if put_end() does.  The end is a step of its own if other
  /// processes see it: a failure cancels them, and an end admits another process if the number of
  /// processes is limited.
  static bool defers_end(auto& s, process& p, std::exception_ptr const& error) noexcept {
    bool const is_a_step = error || s.is_limited();
    return put_end(s, {.owner = &p, .is_a_step = is_a_step, .error = error});
  }
  /// Destroys the frames of a process that exits, and defers its end if put_end() does: events that
  /// the destructors cause are deferred as well.  Returns false, and leaves all to the caller, if
  /// the process cannot have events, or if another party unwinds its frames (SUSPENSION-3).
  template <class S>
  static bool defers_exit(S& s, process& p) noexcept {
    if (!process_with_events(s) || p.is_pinned()) return false;
    std::coroutine_handle<> const leaf = p.leaf();
    p.resume_unanswered(s);
    p.unwind_from(leaf);
    S::set_innermost(&s);
    return put_end(s, {.owner = &p});
  }
  /// Defers the end of a task until the events of its process have taken effect, or to a step of
  /// its own.
  template <class S, class Task>
  static bool defers_task_end(S& s, Task& t, bool is_a_step) noexcept {
    static constexpr auto is_over = [](void* scheduler, void* task) noexcept {
      end_deferred_task(*static_cast<S*>(scheduler), *static_cast<Task*>(task));
    };
    if (!t.host) return false;
    return put_end(s, {.owner = t.host, .is_a_step = is_a_step, .task = &t, .is_over = is_over});
  }
  static bool defers_start(auto& s, auto const& begins) noexcept {
    if (!has_events_here(s)) return false;
    cause_event("the start of a task", nullptr, begins);
    return true;
  }
  /// Whether a send to a waiting process ends the step of the sender.  With other backends the
  /// sender may hand over at such a send, so other processes run before the sender goes on.
  static bool ends_step_of_sender(auto& s) noexcept {
    return s.is_innermost() && !s.cancellation.needs_attention();
  }
  /// Takes a process; while all are unwound, by take_any(), since then their order does not matter,
  /// unless one goes on with its answer (WAITER-5).
  static thunk take_while_cancelled(auto& s) noexcept {
    if (!s.cancellation.is_of_all()) return s.take();
    try {
      return s.worker().take_any(instant::max(), {}, [](process& p) {
        return pending_of(p).perform ? p.requires_answer() : p.has_answer();
      });
    } catch (...) {
      s.here().broken = std::current_exception();
      return thunk::reason::stopped;
    }
  }
  static bool has_stopped(thunk const& t) noexcept { return !t; }

  /// Makes all deferred events take effect, and then all ends of tasks.  Hands a process that has
  /// deferred the end of a scope to that scope, which drops the process after the tasks that the
  /// scope still has.
  static void on_ending(auto& s) noexcept {
    auto& all = s.base().events();
    while (process const* const p = all.owner_of_first()) all.apply_all_of(*p);
    for (auto e = all.take_end(nullptr); e.owner; e = all.take_end(nullptr))
      if (e.is_over) e.is_over(&s, e.task);
    s.worker().take_out([&s](thunk& t) {
      process& p = *t.get();
      auto const pending = pending_of(p);
      if (pending.drop) pending.drop(&s, *t.release(), pending);
    });
  }
  /// Called after a run that has not thrown.  If the run has left nothing behind, resets the
  /// scheduler to the state in which it had just learnt its effects, which have no handler outside.
  /// Else returns false: then the scheduler can only end.
  [[nodiscard]] static bool try_reset(auto& s) noexcept {
    bool const has_left_something = s.own.alive != 0 || s.own.stopped || s.owners() != 1 ||
                                    s.cancellation.needs_attention() ||
                                    s.cancellation.was_found() || !s.base().events().is_empty();
    if (has_left_something || !s.worker().try_reset() || !s.waits.try_reset()) return false;
    s.base().end_run();
    if (s.first_) std::exchange(s.first_, nullptr)->release();
    s.own.reset();
    s.base().had_groups = false;
    s.limits_made_.store(0, std::memory_order_relaxed);  // relaxed: no process runs
    s.virtual_now_ = {};
    return true;
  }

 private:
  /// Called when the running process, or a task that this process runs, has ended.  Defers this end
  /// if the end is a step of its own, or if the process has deferred events.  Returns whether the
  /// end was deferred.
  static bool put_end(auto& s, deferred_events::end e) noexcept {
    process* const p = e.owner;
    auto& all = s.base().events();
    if (!process_with_events(s) || (!e.is_a_step && !all.has(*p))) return false;
    bool const is_of_a_task = e.task != nullptr;
    try {
      all.put(std::move(e));
    } catch (...) {  // no memory: the events take effect at once (EVENT-4)
      all.apply_all_of(*p);
      return false;
    }
    if (is_of_a_task) p->drop_result();
    s.here().running = nullptr;
    p->require_preparation();
    s.put(thunk(p), put_reason::yielded);
    return true;
  }
  static void apply_end(auto& s, deferred_events::end e) noexcept {
    auto& all = s.base().events();
    if (auto const end_task = std::exchange(e.is_over, nullptr)) {
      s.here().running = e.owner;
      end_task(&s, std::exchange(e.task, nullptr));
      if (all.has(*e.owner)) {
        e.is_a_step = false;
        process& p = *e.owner;
        if (put_end(s, e)) return;  // a copy: without memory, retire() needs the error
        all.apply_all_of(p);
      }
      s.here().running = nullptr;
    }
    s.retire(e.owner, std::move(e.error));
  }
};

}  // namespace weft::detail
