// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/scheduled.hpp"
#include "weft/sched/runtime/detail/outer/interposed.hpp"

/// How an operation reaches the scheduler: the entries of its clause tables.  The operation itself
/// declares how it is scheduled (scheduled.hpp); `on(scheduler, operation)` performs it.
///
///   DISPATCH-1  A process that performs is suspended first, and put last: once it is put, any
///       thread may run it.
///   DISPATCH-2  A clause ends by a transfer to the next process, not by a return to a loop.
///   DISPATCH-3  A process runs under one of two sets of evidence: for processes that keep a log,
///       or for those that do not.
namespace weft::detail {

/// Evidence for `E`, of the scheduler `S`.
template <class S, class E, bool Records>
struct scheduler_evidence final : evidence<E>, expirable_evidence {
  S& home;
  explicit scheduler_evidence(S& s) noexcept;
  void expire() noexcept override;
};

/// A second look at an operation of `E` that an attempt has answered, and whether the answer stands.
template <bool Records, class S, class E, class O>
[[nodiscard]] constexpr bool confirm(S&, evidence<E>&, O const&,
                                     result_slot<typename O::result>&) noexcept {
  return true;
}

template <class S, class E, class O, bool Records>
struct clause_dispatch {
  using scheduler = S;
  using effect = E;
  using operation = O;
  using R = typename O::result;
  static constexpr scheduling_rule how = scheduling_of<O>;
  static constexpr bool ends_step = how.step == step_kind::ends;
  static constexpr bool may_end_step = how.step == step_kind::ends_if_it_waits;
  static constexpr bool spawns = how.step == step_kind::spawns;
  /// Whether a spawn may end the step of its process, because too many processes are ready.
  static constexpr bool may_be_crowded = S::on_several_threads && !Records && spawns;
  /// Whether the operation counts in its step, so that a process that performs nothing else gives way.
  static constexpr bool counts = how.step == step_kind::at_once && !how.is_free;
  static S& of(evidence<E>& e) noexcept {
    return static_cast<scheduler_evidence<S, E, Records>&>(e).home;
  }

  // ---- operations that suspend the process

  /// Suspends the process, performs the operation, and goes on to the next process (DISPATCH-1,
  /// DISPATCH-2).
  static std::coroutine_handle<> control(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                         result_slot<R>& waiting) {
    prompt* ground = prompt::innermost();
    if (ground != &of(e)) [[unlikely]]
      return suspend_and_perform(of(e), o, leaf, waiting);
    // From here on the address of the scheduler comes from the thread, not from the frame:
    // otherwise a yield would wait until the frame is in the cache.
    asm("" : "+r"(ground));
    S& s = *static_cast<S*>(ground);
    if constexpr (!Records && how.only_yields && exchanging_backend<typename S::backend_type>) {
      // A short cut: put and take in one step (process_clauses.hpp).
      if (can_exchange(s)) [[likely]]
        return exchange(s, info_of<O>, leaf, waiting);
      if constexpr (requires { s.worker().prepare_exchange(); })
        return prepare_exchange(s, o, leaf, waiting);
    }
    if constexpr (!Records && may_end_step) {
      // A short cut for operations that wait only if they must, such as receive.  The process is
      // outside all handlers here, so this is the only check left.
      if (!prompt::arena_here()) [[likely]] {
        if constexpr (requires(process& p) { waits_in_place(s, p, o); }) {
          process& p = s.running();
          if (!waits_in_place(s, p, o)) [[unlikely]]
            return suspend_here_slow(s, o, leaf, waiting);
          p.suspend_here(info_of<O>, leaf, waiting);
          return wait_in_place(s, p, o);
        } else {
          return suspend_here_and_perform(s, o, leaf, waiting);
        }
      }
    }
    return suspend_and_perform(s, o, leaf, waiting);
  }
  [[gnu::noinline]] static std::coroutine_handle<> prepare_exchange(S& s, O& o,
                                                                    std::coroutine_handle<> leaf,
                                                                    result_slot<R>& waiting) {
    if (s.worker().prepare_exchange() && can_exchange(s))
      return exchange(s, info_of<O>, leaf, waiting);
    return suspend_and_perform(s, o, leaf, waiting);
  }
  [[gnu::noinline]] static std::coroutine_handle<> suspend_here_slow(S& s, O& o,
                                                                     std::coroutine_handle<> leaf,
                                                                     result_slot<R>& waiting) {
    return suspend_here_and_perform(s, o, leaf, waiting);
  }
  [[gnu::always_inline]] static std::coroutine_handle<> suspend_here_and_perform(
      S& s, O& o, std::coroutine_handle<> leaf, result_slot<R>& waiting) {
    process& p = s.running();
    p.suspend_here(info_of<O>, leaf, waiting);
    try {
      return on(s, o);
    } catch (...) {
      p.resume_unanswered(s);
      throw;
    }
  }
  /// Suspends the running process at the operation, and answers it.  The frames that perform need
  /// not have begun in that process: a handler may have kept them, and the running process has
  /// resumed them; or ordinary code has, while no process runs.
  [[gnu::noinline]] static std::coroutine_handle<> suspend_and_perform(S& s, O& o,
                                                                       std::coroutine_handle<> leaf,
                                                                       result_slot<R>& waiting) {
    require_running(s, waiting.where);
    process& p = s.running();
    if (p.is_forkable()) {
      if (auto const diverged = before_recording(s, o, leaf, waiting.where)) return diverged;
    } else if constexpr (how.needs_log) {
      refuse_fork(s, site_of(o, waiting.where));
    }
    if constexpr (how.waits_in_frame || (S::on_several_threads && !how.ends_process))
      if (prompt::arena_here()) [[unlikely]]
        throw_frames_are_fixed(site_of(o, waiting.where));
    if (!p.suspend_at(info_of<O>, leaf, waiting, s)) [[unlikely]] {
      if constexpr (may_end_step)
        if (!p.is_forkable() && attempt(s, o, waiting)) return leaf;
      throw_crossed(s, o, waiting.where);
    }
    try {
      return perform_suspended(s, o);
    } catch (...) {  // thrown before the process was put anywhere
      p.resume_unanswered(s);
      s.log_of_running().record_error(site_of(o, waiting.where), std::current_exception());
      throw;
    }
  }
  static std::coroutine_handle<> perform_suspended(S& s, O& o) {
    if constexpr (ends_step || may_end_step) {
      return on(s, o);
    } else if constexpr (spawns) {
      if (s.is_limited())
        spawn_when_there_is_room(s, *o.what);
      else
        spawn_and_yield(s, o);
      return s.next();
    } else {
      static_assert(std::is_same_v<decltype(on(s, o)), R>);  // else on() ends the step
      (void)on(s, o);
      return s.next();
    }
  }

  // ---- operations that are answered at once

  static bool at_once(evidence<E>& e, O& o, result_slot<R>& waiting) {
    S& s = of(e);
    require_running(s, waiting.where);
    if constexpr (counts)
      if (!s.here().count_operation() && !s.log_of_running().replaying()) [[unlikely]]
        return false;
    if constexpr (how.checks_cancellation)
      if (s.cancellation.needs_attention() && !s.log_of_running().replaying()) [[unlikely]]
        return false;
    if constexpr (may_be_crowded)
      if (prompt::innermost() == &s && count_spawn(s)) return false;
    if constexpr (spawns)
      if (s.is_limited()) [[unlikely]]
        return spawn_at_once(s, o, waiting);
    return answer_now(s, o, waiting);
  }
  /// If the number of processes is limited: answers a spawn if there is room.  A spawn that is
  /// replayed starts no process, and needs no room.
  [[gnu::noinline]] static bool spawn_at_once(S& s, O& o, result_slot<R>& waiting) {
    bool const is_old = s.log_of_running().replaying();
    if (!is_old && !s.take_room(site_of(o, waiting.where))) return false;
    return answer_now<true>(s, o, waiting);
  }
  template <bool InRoom = false>
  [[gnu::always_inline]] static bool answer_now(S& s, O& o, result_slot<R>& waiting) {
    if (s.running().is_forkable()) [[unlikely]]
      return answer_by_log<InRoom>(s, o, waiting);
    set_answer<InRoom>(s, o, waiting);
    return true;
  }
  /// answer_now() for a process that keeps a log: the log has the answer, or records it.
  template <bool InRoom>
  [[gnu::noinline]] static bool answer_by_log(S& s, O& o, result_slot<R>& waiting) {
    replay_log& log = s.log_of_running();
    site const at = site_of(o, waiting.where);
    if (log.replaying()) {
      if constexpr (how.is_repeated) on(s, o);
      return log.replay(at, waiting);
    }
    try {
      set_answer<InRoom>(s, o, waiting);
    } catch (...) {
      waiting.fail(std::current_exception());
    }
    if constexpr (is_sealing<O>)
      seal_running(s, at);
    else
      log.record(at, waiting);
    return true;
  }
  template <bool InRoom>
  [[gnu::always_inline]] static void set_answer(S& s, O& o, result_slot<R>& waiting) {
    if constexpr (InRoom) {
      waiting.set(spawn_in_room(s, o));
    } else if constexpr (std::is_void_v<R>) {
      on(s, o);
      waiting.set();
    } else {
      waiting.set(on(s, o));
    }
  }
  /// Answers an operation that ends the step only if it has to wait; returns false if it has to.  A
  /// process that keeps a log is always suspended, unless the log has the answer.
  static bool attempt_at_once(evidence<E>& e, O& o, result_slot<R>& waiting) {
    S& s = of(e);
    require_running(s, waiting.where);
    if (s.running().is_forkable()) [[unlikely]]
      return attempt_replay(e, o, waiting);
    // A cancelled process finds the cancellation before it sends or receives anything.
    if (s.cancellation.needs_attention()) [[unlikely]]
      return false;
    return attempt(s, o, waiting) && confirm<Records>(s, e, o, waiting);
  }
  static bool attempt_replay(evidence<E>& e, O& o, result_slot<R>& waiting) {
    replay_log& log = of(e).log_of_running();
    return log.replaying() && log.replay(site_of(o, waiting.where), waiting);
  }
  /// For an operation that was not answered at once, although it never waits: it is refused, since
  /// its process is cancelled, or the step has had its share of operations; or its process has
  /// diverged from its log, and ends.
  static std::coroutine_handle<> control_in_turn(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                                 result_slot<R>& waiting) {
    S& s = of(e);
    if (s.log_of_running().replaying())  // it would have the answer
      return s.end_diverged(leaf, site_of(o, waiting.where));
    process& p = s.running();
    if constexpr (how.checks_cancellation)
      if (s.cancellation.needs_attention() && s.cancellation.includes(leaf) &&
          p.suspend_at(info_of<O>, leaf, waiting, s))
        return s.refuse(p);
    (void)answer_now(s, o, waiting);
    // A process that keeps a log, or a copyable body, goes on.
    bool const may_yield = counts && s.here().has_had_share() && !prompt::arena_here() &&
                           (!p.is_forkable() || s.log_of_running().is_over());
    if (!may_yield || !p.suspend_at(info_of<O>, leaf, waiting, s)) return leaf;
    p.mark_cancellable();  // the answer holds nothing that could be lost
    s.put(s.box(), put_reason::yielded);
    return s.next();
  }

  // ---- mistakes

  /// Refuses an operation that cannot suspend its process, because ordinary code stands in between.
  /// The log records the error, so that a later run of the process throws it as well.
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
    if (!s.running_here()) [[unlikely]]
      s.throw_across(name_of<O>, where);
  }

  /// The entry of the operation, by the functions of `Way`: of this class, or of one that derives
  /// from it.
  template <class Way>
  static constexpr clause_entry<E, O> entry() {
    if constexpr (may_end_step)
      return {Way::attempt_at_once, nullptr, Way::control};
    else if constexpr (ends_step)
      return {Records ? Way::attempt_replay : nullptr, nullptr, Way::control};
    else
      return {Way::at_once, nullptr, spawns ? Way::control : Way::control_in_turn};
  }
};

/// The dispatch of an operation; of an effect that has one of its own, that one.
template <class S, class E, class O, bool Records>
struct dispatch_of : clause_dispatch<S, E, O, Records> {};

template <class S, class E, bool Records, class Operations = typename E::operations>
struct scheduler_table;
template <class S, class E, bool Records, class... Os>
struct scheduler_table<S, E, Records, op_list<Os...>> {
  static prompt& prompt_of(evidence<E>& e) noexcept {
    return static_cast<scheduler_evidence<S, E, Records>&>(e).home;
  }
  static evidence<E>* beyond(evidence<E>&) noexcept { return nullptr; }
  template <class O>
  using way = typename S::observer::template dispatch<dispatch_of<S, E, O, Records>>;
  static constexpr clause_table<E, op_list<Os...>> value{way<Os>::template entry<way<Os>>()...,
                                                         prompt_of, beyond};
};

template <class S, class E, bool Records>
scheduler_evidence<S, E, Records>::scheduler_evidence(S& s) noexcept
    : evidence<E>{&scheduler_table<S, E, Records>::value}, home(s) {}
template <class S, class E, bool Records>
void scheduler_evidence<S, E, Records>::expire() noexcept {
  this->clauses = &expired_table<scheduler_table<S, E, Records>, E>::value;
}

}  // namespace weft::detail
