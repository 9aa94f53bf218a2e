// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <type_traits>

#include "effects/handle.hpp"
#include "sched/base/detail/forkable_process.hpp"
#include "sched/runtime/detail/scheduling_clauses.hpp"
#include "sched/tasks/detail/scope_core.hpp"
#include "sched/tasks/tasking.hpp"

/// How an operation of tasking<...> reaches the scheduler.  Who performs it may go on with one of
/// its tasks, as a call: then it need not stop.
namespace weft::detail {

template <class S, class E, class O, bool Records>
struct tasking_clause : scheduler_clause<S, E, O, Records> {
  using common = scheduler_clause<S, E, O, Records>;
  using R = typename O::result;

  static constexpr bool starts = std::is_same_v<O, typename E::start>;
  static constexpr bool awaits = requires(O& o) { o.how; };
  /// Whether tasks have ended, whether the body of their scope has, whether it is cancelled: a step
  /// of its own, where steps are as small as that.
  static constexpr bool looks_at_others =
      awaits || std::is_same_v<O, typename E::enter> || std::is_same_v<O, typename E::leave>;

  static bool all_have_ended(evidence<E>& e, O& o, result_slot<R>& waiting) {
    S& s = common::of(e);
    common::require_running(s, waiting.where);
    if (keeps_log(s.running())) return common::attempt_replay(e, o, waiting);
    if constexpr (S::explores)
      if (s.lets_others_first()) return false;
    return have_ended(o, waiting);
  }
  static bool have_ended(O& o, result_slot<R>& waiting) {
    for (auto* t = o.how.first; t; t = t->next)
      if (!t->has_ended()) return false;
    waiting.set_word(1);
    return true;
  }
  static std::coroutine_handle<> control(evidence<E>& e, O& o, std::coroutine_handle<> leaf,
                                         result_slot<R>& waiting) {
    S& s = common::of(e);
    if constexpr (S::explores)
      if (s.is_running() && !s.log_of_running().replaying() &&
          (looks_at_others ? s.lets_others_first() : common::is_put_off(s))) {
        if (s.template stop_before<O>(o, leaf, waiting)) {
          s.put_pending({perform_pending, &e, &o, &waiting, leaf, drop(), looks_at_others});
          return s.next();
        }
        s.apply_own_events();
      }
    if constexpr (std::is_same_v<O, typename E::wait> && lazy_backend<typename S::backend_type>)
      if (s.can_call()) [[likely]] {
        o.what->leaf = leaf;
        o.what->waiting = &waiting;
        o.what->operation = &info_of<O>;
        return s.do_all(*o.what);
      }
    return control_elsewhere(s, o, leaf, waiting);
  }
  using drop_function = void(void* scheduler, process& p, pending_operation const& self) noexcept;
  /// At the end of a scope.
  static constexpr drop_function* drop() noexcept {
    if constexpr (std::is_same_v<O, typename E::leave>)
      return [](void* scheduler, process& p, pending_operation const& self) noexcept {
        static_cast<S*>(scheduler)->is_dropped_at_the_end(*static_cast<O*>(self.operation)->what,
                                                          p);
      };
    else
      return nullptr;
  }
  /// In its turn (scheduling_clauses.hpp).
  static std::coroutine_handle<> perform_pending(void* scheduler, process& p,
                                                 pending_operation const& self) {
    S& s = *static_cast<S*>(scheduler);
    O& o = *static_cast<O*>(self.operation);
    auto& waiting = *static_cast<result_slot<R>*>(self.waiting);
    p.go_on_unanswered(s);
    try {
      if constexpr (awaits)
        if (!keeps_log(p) && have_ended(o, waiting)) return self.leaf;
      return control_elsewhere(s, o, self.leaf, waiting);
    } catch (...) {  // before it was stopped
      waiting.fail(std::current_exception());
      return self.leaf;
    }
  }
  [[gnu::noinline]] static std::coroutine_handle<> control_elsewhere(S& s, O& o,
                                                                     std::coroutine_handle<> leaf,
                                                                     result_slot<R>& waiting) {
    common::require_running(s, waiting.where);
    if constexpr (awaits) {
      if constexpr (std::is_same_v<O, typename E::await>) {
        o.how.leaf = leaf;
        o.how.waiting = &waiting;
        o.how.operation = &info_of<O>;
        if (auto const called = s.call(o.how)) return called;
      }
      return common::stop_and_answer(s, o, leaf, waiting);
    } else {
      if (prompt::innermost() != &s || keeps_log(s.running())) [[unlikely]]
        if (auto const diverged = require_stoppable(s, o, leaf, waiting)) return diverged;
      if constexpr (std::is_same_v<O, typename E::enter>) {
        return s.enters(*o.what, leaf, waiting, info_of<O>);
      } else {
        auto& w = *o.what;
        // A scope has it since it was opened: its tasks look at it meanwhile.
        if constexpr (std::is_same_v<O, typename E::wait>) w.leaf = leaf;
        w.waiting = &waiting;
        w.operation = &info_of<O>;
        if constexpr (std::is_same_v<O, typename E::wait>) {
          s.is_begun_by(s.running(), w);
          return s.do_all_rarely(w, false);
        } else {
          return s.leaves(w);
        }
      }
    }
  }
  /// It may have to stop later, when it cannot be refused any more.
  [[gnu::noinline]] static std::coroutine_handle<> require_stoppable(S& s, O& o,
                                                                     std::coroutine_handle<> leaf,
                                                                     result_slot<R>& waiting) {
    process& p = s.running();
    if (keeps_log(p))
      if (auto const diverged = s.before_recording(o, leaf, waiting.where)) return diverged;
    if (prompt::arena_here()) s.throw_stays_where_it_is(site_of(o, waiting.where));
    if (!p.stop_at(info_of<O>, leaf, waiting, s)) common::throw_crossed(s, o, waiting.where);
    p.go_on_unanswered(s);
    return {};
  }

  static constexpr clause_entry<E, O> entry() {
    if constexpr (starts && S::explores)
      return {nullptr, common::at_once, nullptr, common::control_if_first};
    else if constexpr (starts)
      return {nullptr, common::at_once, nullptr, common::only_diverged};
    else if constexpr (awaits)
      return {nullptr, all_have_ended, nullptr, control};
    else
      return {nullptr, Records ? common::attempt_replay : nullptr, nullptr, control};
  }
};

}  // namespace weft::detail
