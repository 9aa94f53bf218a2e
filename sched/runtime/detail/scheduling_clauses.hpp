// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

#include "effects/handle.hpp"
#include "effects/proc.hpp"
#include "sched/base/backend.hpp"
#include "sched/base/detail/pending_operation.hpp"
#include "sched/mail/detail/mail_waiters.hpp"
#include "sched/runtime/detail/our_operations.hpp"
#include "sched/runtime/detail/outer_recorder.hpp"
#include "sched/runtime/detail/scheduling_base.hpp"
#include "sched/sync/gate.hpp"

/// How an operation of ours reaches the scheduler: the entries of its tables.
///
///   DISPATCH-1  A process that performs is stopped first, and put last; from then on it may be anyone's.
///   DISPATCH-2  The clause's end goes straight on to the next process: no step through a loop.
///   DISPATCH-3  A process runs under one of two sets of evidence: of processes that keep a log, or not.
namespace weft::detail {

/// Evidence for `E`, of the scheduler `S`.
template <class S, class E, bool Records>
struct scheduler_place final : evidence<E>, recorder_base {
  S& home;
  explicit scheduler_place(S& s) noexcept;
  void expire() noexcept override;
};

template <class S, class E, class O, bool Records>
struct tasking_clause;

template <class S, class E, class O, bool Records>
struct scheduler_clause {
  using R = typename O::result;
  /// Spawning, when there is too much to do already: then who spawns lets the others go first.
  static constexpr bool may_crowd = S::on_several_threads && !Records && is_spawning<E>;
  static constexpr bool is_birth = is_spawning<E>;
  static constexpr bool may_be_a_step = S::explores && concerns_others<O>;
  /// Whether it comes after the events of its process (deferred_events.hpp): who waits has none left, and
  /// who is born finds that they have taken effect.
  static constexpr bool comes_after_events =
      S::explores && (may_be_a_step || lets_others_run<O> || is_birth || is_tasking<E>);
  static S& of(evidence<E>& e) noexcept {
    return static_cast<scheduler_place<S, E, Records>&>(e).home;
  }

  /// Stops the process, does what the clause says, and goes on to the next one (DISPATCH-1, DISPATCH-2).
  static std::coroutine_handle<> control(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                         result_slot<R>& waiting) {
    if constexpr (comes_after_events)
      if (is_put_off(of(e))) return let_others_first(e, o, leaf, waiting);
    prompt* ground = prompt::innermost();
    if (ground != &of(e)) [[unlikely]]
      return stop_and_answer(of(e), o, leaf, waiting);
    // From here on we look for the scheduler where the thread has it, not by way of the frame: else
    // each yield would have to wait until its frame is in the cache.
    asm("" : "+r"(ground));
    S& s = *static_cast<S*>(ground);
    if constexpr (!Records && std::is_same_v<O, proc::yield> &&
                  exchanging_backend<typename S::backend_type>) {
      // The short cut: nothing but a yield of a process that stands on the ground.
      if (s.can_exchange()) [[likely]]
        return s.exchange(info_of<O>, leaf, waiting);
    }
    if constexpr (!Records && may_let_others_run<O>) {
      // The same for mail.
      if (!prompt::arena_here()) [[likely]]
        return stop_here_and_answer(s, o, leaf, waiting);
    }
    return stop_and_answer(s, o, leaf, waiting);
  }
  static std::coroutine_handle<> stop_here_and_answer(S& s, O& o, std::coroutine_handle<> leaf,
                                                      result_slot<R>& waiting) {
    process& p = s.running();
    p.stop_here(info_of<O>, leaf, waiting);
    try {
      return s.on(o);
    } catch (...) {
      p.go_on_unanswered(s);
      throw;
    }
  }
  /// Of whoever runs, which need not be who the evidence is for: a handler inside may have kept
  /// what performs, and another process have resumed it, or ordinary code when nobody runs.
  [[gnu::noinline]] static std::coroutine_handle<> stop_and_answer(S& s, O& o,
                                                                   std::coroutine_handle<> leaf,
                                                                   result_slot<R>& waiting) {
    require_running(s, waiting.where);
    process& p = s.running();
    if (p.is_forkable()) {
      if (auto const diverged = s.before_recording(o, leaf, waiting.where)) return diverged;
    } else if constexpr (std::is_same_v<O, proc::fork>) {
      S::throw_has_no_log(site_of(o, waiting.where));
    }
    if constexpr (waits_in_its_frame<O> ||
                  (S::on_several_threads && !std::is_same_v<O, proc::exit>))
      if (prompt::arena_here()) [[unlikely]]
        s.throw_stays_where_it_is(site_of(o, waiting.where));
    if (!p.stop_at(info_of<O>, leaf, waiting, s)) [[unlikely]] {
      if constexpr (may_let_others_run<O>)
        if (!p.is_forkable() && s.attempt(o, waiting)) return leaf;
      throw_crossed(s, o, waiting.where);
    }
    try {
      return answer_stopped(s, o);
    } catch (...) {  // before it was put anywhere
      p.go_on_unanswered(s);
      s.log_of_running().record_error(site_of(o, waiting.where), std::current_exception());
      throw;
    }
  }
  static std::coroutine_handle<> answer_stopped(S& s, O& o) {
    if constexpr (std::is_same_v<O, proc::exit>)
      s.exit(s.running());
    else if constexpr (may_let_others_run<O>)
      return s.on(o);
    else if constexpr (is_birth)
      begin_stopped(s, o);
    else
      s.on(o);
    return s.next();
  }

  /// Of who spawns in a crowd, or waits for room.
  static void begin_stopped(S& s, O& o) {
    if (s.is_limited()) return s.begin_when_there_is_room(*o.what);
    s.begin_and_yield(o);
  }

  // ---- where it is a step of its own, unless ordinary code stands in between

  /// Whether it is a step of its own.  A process that exits cancels what it has started.
  static bool is_a_step(S& s) {
    if constexpr (is_birth) return s.is_limited();
    if constexpr (std::is_same_v<O, proc::exit>) return s.has_had_tasks();
    return may_be_a_step;
  }
  /// Whether the others go first.
  static bool is_put_off(S& s) { return (is_a_step(s) || s.has_events()) && s.lets_others_first(); }
  static std::coroutine_handle<> let_others_first(evidence<E>& e, O& o,
                                                  std::coroutine_handle<> leaf,
                                                  result_slot<R>& waiting) {
    S& s = of(e);
    if (!s.template stop_before<O>(o, leaf, waiting)) [[unlikely]] {
      s.apply_own_events();
      if (answered_at_once(s, o, waiting)) return leaf;
      throw_crossed(s, o, waiting.where);
    }
    s.put_pending({perform_pending, &e, &o, &waiting, leaf, nullptr, is_a_step(s)});
    return s.next();
  }
  static bool answered_at_once(S& s, O& o, result_slot<R>& waiting) {
    if constexpr (may_let_others_run<O>)
      return !s.running().is_forkable() && s.attempt(o, waiting);
    else if constexpr (is_birth)
      return s.is_limited() ? begin_at_once(s, o, waiting) : answer_now(s, o, waiting);
    else if constexpr (!lets_others_run<O>)
      return answer_now(s, o, waiting);
    else
      return false;
  }
  /// In its turn.
  static std::coroutine_handle<> perform_pending(void* scheduler, process& p,
                                                 pending_operation const& self) {
    S& s = *static_cast<S*>(scheduler);
    O& o = *static_cast<O*>(self.operation);
    auto& waiting = *static_cast<result_slot<R>*>(self.waiting);
    try {
      // A process that is to end is told so before it sends or receives anything.
      bool const must_stop = may_let_others_run<O> && s.must_look_up();
      if (!must_stop && answered_at_once(s, o, waiting)) return p.go_on_somehow(0, s);
      if constexpr (may_let_others_run<O> || lets_others_run<O> || is_birth) {
        if (p.is_forkable())
          (void)s.before_recording(o, self.leaf, waiting.where);
        else if constexpr (std::is_same_v<O, proc::fork>)
          S::throw_has_no_log(site_of(o, waiting.where));
        return answer_stopped(s, o);
      }
    } catch (...) {  // before it was put anywhere
      s.log_of_running().record_error(site_of(o, waiting.where), std::current_exception());
      waiting.fail(std::current_exception());
    }
    return p.go_on_somehow(0, s);
  }
  static std::coroutine_handle<> control_if_first(evidence<E>& e, O& o,
                                                  std::coroutine_handle<> leaf,
                                                  result_slot<R>& waiting) {
    if (is_put_off(of(e))) return let_others_first(e, o, leaf, waiting);
    return only_diverged(e, o, leaf, waiting);
  }

  /// In the next run as well.
  [[noreturn, gnu::cold, gnu::noinline]] static void throw_crossed(S& s, O const& o,
                                                                   std::source_location where) {
    try {
      s.throw_across(name_of<O>, where);
    } catch (...) {
      s.log_of_running().record_error(site_of(o, where), std::current_exception());
      throw;
    }
  }
  static void require_running(S& s, std::source_location where) {
    if (!s.is_running()) [[unlikely]]
      s.throw_across(name_of<O>, where);
  }

  /// What is answered at once.
  static bool at_once(evidence<E>& e, O& o, result_slot<R>& waiting) {
    S& s = of(e);
    require_running(s, waiting.where);
    if constexpr (finds_cancellation<O>)
      if (s.must_look_up() && !s.log_of_running().replaying()) [[unlikely]]
        return false;
    if constexpr (may_crowd)
      if (prompt::innermost() == &s && s.is_crowded()) return false;
    if constexpr (comes_after_events)
      if (is_put_off(s)) return false;
    if constexpr (is_birth)
      if (s.is_limited()) [[unlikely]]
        return begin_at_once(s, o, waiting);
    return answer_now(s, o, waiting);
  }
  /// If there is room.  One that is run again starts none.
  [[gnu::noinline]] static bool begin_at_once(S& s, O& o, result_slot<R>& waiting) {
    bool const is_old = s.log_of_running().replaying();
    if (!is_old && !s.takes_room(site_of(o, waiting.where))) return false;
    return answer_now<true>(s, o, waiting);
  }
  template <bool InRoom = false>
  static bool answer_now(S& s, O& o, result_slot<R>& waiting) {
    if (s.running().is_forkable()) [[unlikely]] {
      replay_log& log = s.log_of_running();
      site const at = site_of(o, waiting.where);
      if (log.replaying()) {
        if constexpr (std::is_same_v<O, syncing::touch>) s.on(o);  // plain code is run again
        return log.replay(at, waiting);
      }
      try {
        set_answer<InRoom>(s, o, waiting);
      } catch (...) {
        waiting.fail(std::current_exception());
      }
      if constexpr (is_sealing<O>)
        s.seal(at);
      else
        log.record(at, waiting);
    } else {
      set_answer<InRoom>(s, o, waiting);
    }
    return true;
  }
  template <bool InRoom>
  static void set_answer(S& s, O& o, result_slot<R>& waiting) {
    if constexpr (InRoom) {
      waiting.set(s.begin_in_room(*o.what));
    } else if constexpr (std::is_void_v<R>) {
      s.on(o);
      waiting.set();
    } else {
      waiting.set(s.on(o));
    }
  }
  /// The same, if it can be; one that keeps a log is always stopped.
  static bool attempt_at_once(evidence<E>& e, O& o, result_slot<R>& waiting) {
    S& s = of(e);
    require_running(s, waiting.where);
    if (s.running().is_forkable()) [[unlikely]]
      return attempt_replay(e, o, waiting);
    if constexpr (may_be_a_step)
      if (s.lets_others_first()) return false;
    // A process that is to end is told so before it sends or receives anything.
    if (s.must_look_up()) [[unlikely]]
      return false;
    if (!s.attempt(o, waiting)) return false;
    // The last who sends may have gone because it was to end, after we had asked.
    if constexpr (std::is_same_v<O, mail::receive>)
      if (*waiting.value() == receive_waiter::nobody_left && s.must_look_up()) [[unlikely]]
        return false;
    return true;
  }
  /// If the process is to end it is stopped here, and told.
  static std::coroutine_handle<> control_unless_cancelled(evidence<E>& e, O& o,
                                                          std::coroutine_handle<> leaf,
                                                          result_slot<R>& waiting) {
    S& s = of(e);
    if (s.log_of_running().replaying()) return only_diverged(e, o, leaf, waiting);
    if (s.must_look_up() && s.is_to_end_at(leaf) &&
        s.running().stop_at(info_of<O>, leaf, waiting, s))
      return s.refuse(s.running());
    (void)answer_now(s, o, waiting);
    return leaf;
  }
  static std::coroutine_handle<> only_diverged(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                               result_slot<R>& waiting) {
    return of(e).end_diverged(leaf, site_of(o, waiting.where));
  }
  static bool attempt_replay(evidence<E>& e, O& o, result_slot<R>& waiting) {
    replay_log& log = of(e).log_of_running();
    return log.replaying() && log.replay(site_of(o, waiting.where), waiting);
  }

  static constexpr clause_entry<E, O> entry() {
    if constexpr (is_tasking<E>)
      return tasking_clause<S, E, O, Records>::entry();
    else if constexpr (may_let_others_run<O>)
      return {nullptr, attempt_at_once, nullptr, control};
    else if constexpr (lets_others_run<O>)
      return {nullptr, Records ? attempt_replay : nullptr, nullptr, control};
    else if constexpr (is_birth)
      return {nullptr, at_once, nullptr, control};
    else if constexpr (may_be_a_step)
      return {nullptr, at_once, nullptr, control_if_first};
    else if constexpr (finds_cancellation<O>)
      return {nullptr, at_once, nullptr, control_unless_cancelled};
    else
      return {nullptr, at_once, nullptr, only_diverged};
  }
};

template <class S, class E, bool Records, class Operations = typename E::operations>
struct scheduler_table;
template <class S, class E, bool Records, class... Os>
struct scheduler_table<S, E, Records, op_list<Os...>> {
  static prompt& home(evidence<E>& e) noexcept {
    return static_cast<scheduler_place<S, E, Records>&>(e).home;
  }
  static evidence<E>* beyond(evidence<E>&) noexcept { return nullptr; }
  static constexpr clause_table<E, op_list<Os...>> value{
      scheduler_clause<S, E, Os, Records>::entry()..., home, beyond};
};

template <class S, class E, bool Records>
scheduler_place<S, E, Records>::scheduler_place(S& s) noexcept
    : evidence<E>{&scheduler_table<S, E, Records>::value}, home(s) {}
template <class S, class E, bool Records>
void scheduler_place<S, E, Records>::expire() noexcept {
  this->clauses = &expired_table<scheduler_table<S, E, Records>, E>::value;
}

}  // namespace weft::detail
