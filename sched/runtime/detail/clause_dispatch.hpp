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
#include "weft/sched/runtime/detail/log_dispatch.hpp"
#include "weft/sched/runtime/detail/outer/interposed.hpp"

/// How an operation reaches the scheduler: the entries of its clause tables.  The rule of the
/// operation says how it is scheduled (scheduled.hpp); `on(scheduler, operation)`, which stands
/// beside the operation and is found there by its arguments, performs it.
///
/// The way of an operation that suspends its process, such as a yield: control() calls
/// suspend_and_perform(), which checks, has the process note where it stops
/// (process::suspend_at()), and calls on(); that puts the process into the queue, or makes it wait,
/// and returns the frame of the next process (`s.next()`).  The short cuts in control() do the same
/// in fewer steps, for a process outside of all handlers (DISPATCH-4).
///
///   DISPATCH-1  A process that performs is suspended first, and the put is the last step of the
///       clause: once the process is put, any thread may run it.
///   DISPATCH-2  A clause ends by a transfer to the frame of the next process (transfer.hpp).
///   DISPATCH-3  A process runs under one of two sets of evidence: for processes that keep a log,
///       or for those that do not.  The clauses of the first are `recorded`, those of the second
///       `unrecorded` (log_dispatch.hpp), and both go on to a clause_dispatch.
///   DISPATCH-4  If the prompt of the scheduler is the innermost one, then a process of the
///       scheduler runs, and the frames that perform are its own: frames that another process
///       resumes are inside the handler that kept them.  So if the evidence is `unrecorded`, the
///       process keeps no log.  Between two processes, the prompt of the scheduler is always the
///       innermost one.
namespace weft::detail {

/// Evidence for `E`, of the scheduler `S`.
template <class S, class E>
struct scheduler_evidence final : evidence<E>, expirable_evidence {
  S& home;
  scheduler_evidence(S& s, bool is_recorded) noexcept;
  void expire() noexcept override;
};

// ---- defaults, which an operation replaces by an overload beside it

/// Answers the operation, and returns true.  An overload may return false: then the operation
/// suspends its process.
template <class S, class O>
[[gnu::always_inline]] inline bool answer_now(S& s, O& o, result_slot<typename O::result>& to) {
  if constexpr (std::is_void_v<typename O::result>) {
    on(s, o);
    to.set();
  } else {
    to.set(on(s, o));
  }
  return true;
}
/// Performs an operation at which its process is suspended.  Returns the frame to run next.
template <class S, class O>
std::coroutine_handle<> perform_suspended(S& s, O& o) {
  if constexpr (scheduling_of<O>.step == step_kind::at_once) {
    static_assert(
        std::is_same_v<decltype(on(s, o)), typename O::result>);  // on() gives an answer, no frame
    (void)on(s, o);
    return s.next();
  } else {
    return on(s, o);
  }
}
template <class S, class E, class O>
struct clause_dispatch {
  using scheduler = S;
  using effect = E;
  using operation = O;
  using R = typename O::result;
  static constexpr scheduling_rule how = scheduling_of<O>;
  static constexpr bool ends_step = how.step == step_kind::ends;
  static constexpr bool may_end_step = how.step == step_kind::ends_if_it_waits;
  static constexpr bool spawns = how.step == step_kind::spawns;
  /// Whether the step counts the operation: after a number of them, the process gives way to
  /// others.
  static constexpr bool counts = how.step == step_kind::at_once && !how.is_free;
  static S& scheduler_of(evidence<E>& e) noexcept {
    return static_cast<scheduler_evidence<S, E>&>(e).home;
  }

  // ---- operations that suspend the process

  /// Suspends the process, performs the operation, and goes on to the next process (DISPATCH-1,
  /// DISPATCH-2).
  static std::coroutine_handle<> control(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                         result_slot<R>& waiting) {
    prompt* ground = prompt::innermost();
    if (ground != &scheduler_of(e)) [[unlikely]]
      return control_slow(e, o, leaf, waiting);
    // The compiler knows that both addresses are equal, and might use the one that it has loaded
    // through the frame: then a yield would wait until the frame is in the cache.  The asm makes it
    // forget that they are equal.
    asm("" : "+r"(ground));
    S& s = *static_cast<S*>(ground);
    if constexpr (how.only_yields && exchanging_backend<typename S::backend_type>) {
      // A short cut: put and take in one step (process_clauses.hpp).  DISPATCH-4 stands for the
      // checks of suspend_and_perform().
      if (can_exchange(s)) [[likely]]
        return exchange(s, info_of<O>, leaf, waiting);
      if constexpr (requires { s.worker().prepare_exchange(); })
        return prepare_exchange(s, o, leaf, waiting);
    }
    if constexpr (may_end_step) {
      // A short cut for operations that wait only if they must, such as receive.  By DISPATCH-4,
      // only whether the frames may wait has to be checked.
      if (prompt::frames_may_wait()) [[likely]] {
        if constexpr (requires(process& p) { waits_in_place(s, p, o); }) {  // receive
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
  /// Does the work of control(), without its short cuts.
  static std::coroutine_handle<> control_slow(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                              result_slot<R>& waiting) {
    return suspend_and_perform(scheduler_of(e), o, leaf, waiting);
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
  /// Suspends the running process at the operation, and performs the operation.  The frames that
  /// perform may have begun in another process: a handler has kept them, and the running process
  /// has resumed them.  If ordinary code has resumed them while no process runs, throws
  /// needs_control.
  [[gnu::noinline]] static std::coroutine_handle<> suspend_and_perform(S& s, O& o,
                                                                       std::coroutine_handle<> leaf,
                                                                       result_slot<R>& waiting) {
    require_running(s, waiting.where);
    if (auto const instead = before_suspending(s, o, leaf, waiting.where)) return instead;
    process& p = s.running();
    if (!p.suspend_at(info_of<O>, leaf, waiting, s)) [[unlikely]] {
      if (answers_across(s, o, waiting)) return leaf;
      throw_crossed(s, o, waiting.where);
    }
    try {
      return perform_suspended(s, o);
    } catch (...) {  // thrown before the process was put anywhere
      p.resume_unanswered(s);
      record_failure(s, site_of(o, waiting.where));
      throw;
    }
  }

  // ---- operations that are answered at once

  [[gnu::always_inline]] static bool at_once(evidence<E>& e, O& o, result_slot<R>& waiting) {
    S& s = scheduler_of(e);
    require_running(s, waiting.where);
    return goes_on(s) && answer_now(s, o, waiting);
  }
  /// Counts the operation.  Returns whether it may be answered in this step: its process is not
  /// cancelled, and the step has not had its share of operations.
  [[nodiscard]] static bool goes_on(S& s) noexcept {
    if constexpr (counts)
      if (!s.here().count_operation()) [[unlikely]]
        return false;
    return !how.checks_cancellation || !s.cancellation.needs_attention();
  }
  /// Answers an operation that ends the step only if it has to wait; returns false if it has to
  /// wait.
  [[gnu::always_inline]] static bool attempt_at_once(evidence<E>& e, O& o,
                                                     result_slot<R>& waiting) {
    S& s = scheduler_of(e);
    require_running(s, waiting.where);
    // A cancelled process finds the cancellation before it sends or receives anything.
    if (s.cancellation.needs_attention()) [[unlikely]]
      return false;
    return attempt(s, o, waiting);
  }
  /// Called when an operation that never waits was not answered at once: its process is cancelled,
  /// or the step has had its share of operations.  Refuses the operation if the process is
  /// cancelled; else answers it, and lets other processes run.
  static std::coroutine_handle<> control_in_turn(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                                 result_slot<R>& waiting) {
    S& s = scheduler_of(e);
    if (is_refused(s, leaf, waiting)) return s.refuse(s.running());
    (void)answer_now(s, o, waiting);
    return give_way(s, leaf, waiting);
  }
  /// If the process is cancelled, and the operation checks that, suspends the process at the
  /// operation, and returns true: the process is not to perform it.
  [[nodiscard]] static bool is_refused(S& s, std::coroutine_handle<> leaf,
                                       result_slot<R>& waiting) noexcept {
    return how.checks_cancellation && s.cancellation.needs_attention() &&
           s.cancellation.includes(leaf) && s.running().suspend_at(info_of<O>, leaf, waiting, s);
  }
  /// If the step has had its share of operations, and the process can be suspended here, puts the
  /// process, which has its answer, and returns the frame to run next; else returns `leaf`.
  static std::coroutine_handle<> give_way(S& s, std::coroutine_handle<> leaf,
                                          result_slot<R>& waiting) noexcept {
    process& p = s.running();
    bool const may_yield = counts && s.here().has_had_share() && prompt::frames_may_wait();
    if (!may_yield || !p.suspend_at(info_of<O>, leaf, waiting, s)) return leaf;
    p.mark_cancellable();  // the answer holds nothing that could be lost
    s.put(s.box(), put_reason::yielded);
    return s.next();
  }

  // ---- mistakes

  /// Refuses an operation that cannot suspend its process, because ordinary code stands in between.
  [[noreturn, gnu::cold, gnu::noinline]] static void throw_crossed(S& s, O const& o,
                                                                   std::source_location where) {
    try {
      s.throw_across(name_of<O>, where);
    } catch (...) {
      record_failure(s, site_of(o, where));
      throw;
    }
  }
  static void require_running(S& s, std::source_location where) {
    if (!s.running_here()) [[unlikely]]
      s.throw_across(name_of<O>, where);
  }

  /// The entry of the operation in a clause table.  Its functions are those of `Way`: this class,
  /// or one that derives from it.
  template <class Way>
  static constexpr clause_entry<E, O> entry() {
    if constexpr (may_end_step)
      return {.attempt = Way::attempt_at_once, .ask = nullptr, .control = Way::control};
    else if constexpr (ends_step)
      return {.attempt = nullptr, .ask = nullptr, .control = Way::control};
    else
      return {.attempt = Way::at_once,
              .ask = nullptr,
              .control = spawns ? Way::control : Way::control_in_turn};
  }
};

/// The dispatch of an operation.  Specialised for an effect with a dispatch of its own
/// (task_dispatch.hpp).
template <class S, class E, class O>
struct dispatch_of : clause_dispatch<S, E, O> {};

template <class S, class E, bool Records, class Operations = typename E::operations>
struct scheduler_table;
template <class S, class E, bool Records, class... Os>
struct scheduler_table<S, E, Records, op_list<Os...>> {
  static prompt& prompt_of(evidence<E>& e) noexcept {
    return static_cast<scheduler_evidence<S, E>&>(e).home;
  }
  static evidence<E>* beyond(evidence<E>&) noexcept { return nullptr; }
  /// The class whose functions are in the table: a clause_dispatch, behind what asks for the log,
  /// behind what an observer adds.
  template <class O>
  using way = typename S::observer::template dispatch<std::conditional_t<
      Records, recorded<dispatch_of<S, E, O>>, unrecorded<dispatch_of<S, E, O>>>>;
  static constexpr clause_table<E, op_list<Os...>> value{way<Os>::template entry<way<Os>>()...,
                                                         prompt_of, beyond};
};

template <class S, class E>
scheduler_evidence<S, E>::scheduler_evidence(S& s, bool is_recorded) noexcept
    : evidence<E>{is_recorded ? &scheduler_table<S, E, true>::value
                              : &scheduler_table<S, E, false>::value},
      home(s) {}
template <class S, class E>
void scheduler_evidence<S, E>::expire() noexcept {
  this->clauses = &expired_table<scheduler_table<S, E, false>, E>::value;
}

}  // namespace weft::detail
