// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/sync/external_event.hpp"
#include "weft/sched/sync/timing.hpp"
#include "weft/sched/tasks/detail/scope_core.hpp"
#include "weft/sched/tasks/detail/scope_limit.hpp"
#include "weft/sched/tasks/task_handle.hpp"
#include "weft/sched/tasks/tasking.hpp"

namespace weft {

namespace detail {
/// Refuses a task that returns an `R` if it may perform an effect outside `Row`, the row of the
/// scope's tasks.
template <class R, class Row>
consteval bool is_within() {
  using missing = row_difference<typename task_value<R>::effects, Row>;
  static_assert(is_empty_row<missing>,
                "weft: the task may perform an effect that tasking<...> of the coroutine that "
                "opened the scope does not name");
  return is_empty_row<missing>;
}
}  // namespace detail

/// A scope in which tasks are started that end before it does (with_scope).  Its tasks may start
/// others in it.  Used by processes of its scheduler, by several at once if there are several
/// threads.
template <class... Effects>
class scope {
  using for_tasks = detail::row_of_tasks_t<tasking<Effects...>>;

 public:
  explicit scope(detail::internal) noexcept {}
  scope(scope const&) = delete;
  scope& operator=(scope const&) = delete;
  [[nodiscard]] detail::scope_core& core(detail::internal) noexcept { return core_; }

  /// Starts `f(args...)`: a function that returns nothing, or an eff<void, ...>.  `f` is kept until
  /// the task has ended.  The task may borrow objects outside the scope.  A task that throws
  /// cancels the scope, which throws the exception at its end.  No operation: a plain function that
  /// a process calls may start tasks.
  ///
  /// Allocates a block and a frame, both from a pool.  Throws bad_alloc, what calling `f` throws if
  /// it is a coroutine, and std::logic_error if no process of the scheduler runs on this thread.
  template <class F, class... Args>
  void start(F f, Args&&... args) {
    if constexpr (detail::is_callable_task<F, Args...>()) {
      using R = std::invoke_result_t<F, std::decay_t<Args>...>;
      constexpr bool gives_nothing = std::is_void_v<typename detail::task_value<R>::type>;
      static_assert(gives_nothing,
                    "weft: a task with a result is started with a handle for it: "
                    "s.start(handle, f)");
      if constexpr (gives_nothing && detail::is_within<R, for_tasks>() &&
                    detail::require_kept<Args...>())
        begin(*new detail::task_calling<F, std::decay_t<Args>...>(&core_, false, std::move(f),
                                                                  std::forward<Args>(args)...));
    }
  }
  /// Starts `f(args...)`, a task with a value, which the handle yields; the handle also throws what
  /// the task throws.  Such a failure cancels the scope only if the body has ended; if no process
  /// has awaited the handle, the scope throws it at its end.  `f` and its arguments are kept until
  /// the task has ended, the scope is over, and the handle is destroyed.  Allocates, and throws, as
  /// start(f, args...) does.
  template <class T, class F, class... Args>
  void start(task_handle<T>& h, F f, Args&&... args) {
    if constexpr (detail::is_callable_task<F, Args...>()) {
      using R = std::invoke_result_t<F, std::decay_t<Args>...>;
      if constexpr (detail::is_within<R, for_tasks>() && detail::require_kept<Args...>()) {
        auto* const made = new detail::task_calling<F, std::decay_t<Args>...>(
            &core_, true, std::move(f), std::forward<Args>(args)...);
        begin(*made);
        h.tasks(detail::internal()).add(*made);
      }
    }
  }
  /// Cancels the scope: all its tasks, and the body, find `cancelled` at their next operation, or
  /// where they wait.  A task that ends that way is no error: if the body returns, with_scope
  /// yields its result.  If the body itself is unwound by `cancelled`, with_scope throws it, since
  /// there is no result.
  ///
  /// O(n) in the processes that wait in the scope, and in the scopes and joins inside it; if the
  /// number of processes is limited, also in those that wait for room to start one more.
  void cancel() noexcept {
    // relaxed: read when all tasks have ended.
    core_.expects_cancelled.store(true, std::memory_order_relaxed);
    detail::cause_event("the cancellation of a scope", &core_,
                        [core = &core_] { core->home->cancel(*core); });
  }

 private:
  void begin(detail::task_record& r) {
    try {
      core_.home->start(r);
    } catch (...) {  // the task is on no list yet
      r.destroy();
      throw;
    }
  }

  detail::scope_core core_;
};

namespace detail {

/// Awaits the body of a scope, and stores its result, or its exception, in `to`.  The outermost
/// frame of the body ends at the scope_core, and not at the frame that opens the scope: so a walk
/// outwards from the body meets the scope, and one from that frame does not.
template <class Body>
class body_of_scope {
  using T = typename Body::value_type;
  using Callee = typename Body::effects;

 public:
  static constexpr bool row_aware_awaitable = true;
  body_of_scope(Body body, scope_core& s, result_slot<T>& to)
      : frame_(body.release(detail::internal())), scope_(s), to_(to) {}

  template <class Caller>
  auto awaiter_in(std::source_location) noexcept {
    constexpr bool is_in_row = is_empty_row<row_difference<Callee, Caller>>;
    static_assert(is_in_row,
                  "weft: the body of the scope may perform an effect outside the row of the "
                  "coroutine that opens the scope");
    if constexpr (is_in_row)
      return awaiter<Caller>{*this, {}};
    else
      return refused<void>();
  }

 private:
  template <class Caller>
  struct awaiter {
    body_of_scope& body;
    [[no_unique_address]] projection<Callee, Caller> evidence;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Frame>
    transfer await_suspend(std::coroutine_handle<Frame> me) noexcept {
      auto& child = frame_of(body.frame_);
      child.parent = continuation(static_cast<frame_end&>(body.scope_));
      if constexpr (!std::is_same_v<Callee, row<>>)
        child.evidence = evidence.view(me.promise().evidence);
      child.to = &body.to_;
      return go_on(body.frame_);
    }
    void await_resume() const noexcept {}
  };

  std::coroutine_handle<> frame_;
  scope_core& scope_;
  result_slot<T>& to_;
};

/// The type of the result of a scope's body `F`; void if the body is a plain function.
template <class F, class Scope>
using value_of_body = typename task_value<std::invoke_result_t<F&, Scope&>>::type;

/// The limit of a scope that nothing cancels from outside.
struct no_limit {
  [[nodiscard]] static scope_limit::reason end() noexcept { return scope_limit::reason::none; }
};
[[nodiscard]] inline scope_limit* address_of(scope_limit& l) noexcept { return &l; }
[[nodiscard]] inline scope_limit* address_of(no_limit) noexcept { return nullptr; }

/// Opens a scope, runs its body `f`, and waits for its tasks.  `Limit` is constructed from `how`.
///
/// The operation `enter` is enter_scope() of scope_algorithm.hpp, which also sets the alarm of the
/// limit (scope_limit.hpp).  The body is a call, and its frames end at the scope.  A cancellation,
/// cancel_group() of task_cancelling.hpp, wakes each process that waits in the scope; in its turn
/// the process finds `cancelled` (backend_scheduler::prepare()).  When the body has ended, the
/// operation `leave`, leave_scope(), waits for the tasks; then scope_core::finish() chooses the
/// error.
template <class Row, class Scope, class Limit = no_limit, class F, class... How>
auto in_a_scope(F f, std::source_location where, How... how) -> eff<value_of_body<F, Scope>, Row> {
  using tasks = typename tasking_in<Row>::type;
  using body = std::invoke_result_t<F&, Scope&>;
  using T = value_of_body<F, Scope>;
  Scope s{internal()};
  scope_core& core = s.core(internal());
  Limit limit(std::move(how)...);  // ends before the scope, also when the frame is unwound
  result_slot<T> given;
  co_await located(typename tasks::enter(core, address_of(limit)), where);
  if constexpr (std::is_void_v<body>) {
    try {
      f(s);
      given.set();
    } catch (...) {  // `f` may have started tasks before it threw
      given.fail(std::current_exception());
    }
    core.body_has_ended();
  } else {
    std::optional<body> given_body;
    try {
      given_body.emplace(f(s));
    } catch (...) {  // `f` may have started tasks before it threw
      given.fail(std::current_exception());
      core.body_has_ended();
    }
    // At the end of its frames, scope_core::ended() calls body_has_ended().
    if (given_body) co_await body_of_scope<body>(*std::move(given_body), core, given);
  }
  if (core.was_unwound) given.fail(std::make_exception_ptr(core.why_unwound()));
  if (given.error())
    cause_event("the cancellation of a scope, whose body has failed", &core,
                [c = &core] { c->home->cancel(*c); });
  for (bool is_over = false; !is_over;)
    is_over = co_await located(typename tasks::leave(core), where);
  auto const why = limit.end();  // withdraws the canceller
  auto error = core.finish(given.error(), !std::is_void_v<T>, why);
  if (error) co_await ends_with(std::move(error));
  co_return given.take();
}

template <class Row>
struct scope_in;
template <class... Es>
struct scope_in<tasking<Es...>> : identity<scope<Es...>> {};

template <class F>
class scope_awaitable {
 public:
  static constexpr bool row_aware_awaitable = true;
  explicit scope_awaitable(F f) : f_(std::move(f)) {}
  scope_awaitable(F f, scope_options how, std::stop_token asked)
      : f_(std::move(f)), how_(how), asked_(std::move(asked)) {}
  template <class Row>
  auto awaiter_in(std::source_location where) {
    if constexpr (may_start<Row>()) {
      using here = typename scope_in<typename tasking_in<Row>::type>::type;
      if constexpr (is_body_of_scope<here>())
        return run<Row, here>(where);
      else
        return refused<void>();
    } else {
      return refused<void>();
    }
  }

 private:
  template <class Scope>
  static consteval bool is_body_of_scope() {
    constexpr bool is_body = [] {
      // No std::invocable: compilers would report a mistake in `f` in ten lines more.
      if constexpr (requires(F& f, Scope& s) { f(s); }) {
        using R = decltype(std::declval<F&>()(std::declval<Scope&>()));
        return task_value<R>::is_computation || std::is_void_v<R>;
      } else {
        return false;
      }
    }();
    static_assert(is_body,
                  "weft: with_scope takes a function of the scope that returns an eff: "
                  "[](auto& s) -> eff<void, tasking<>> { ...; co_return; }, or nothing: "
                  "[](auto& s) { s.start(f); }");
    return is_body;
  }
  template <class Row, class Scope>
  auto run(std::source_location where) {
    using body = eff<value_of_body<F, Scope>, Row>;
    body b =
        how_ ? in_a_scope<Row, Scope, scope_limit>(std::move(f_), where, *how_, std::move(asked_))
             : in_a_scope<Row, Scope>(std::move(f_), where);
    return calling<typename body::value_type, typename body::promise_type, typename body::effects,
                   Row>(b.release(detail::internal()), where);
  }

  F f_;
  std::optional<scope_options> how_;
  std::stop_token asked_;
};

}  // namespace detail

/// Calls `f(s)`, which starts tasks in `s`, a scope: a plain function without a result, or a
/// computation.  `co_await` yields the result of the computation when it and all the tasks have
/// ended.
///
///     std::vector<int> all(1000);
///     co_await with_scope([&](auto& s) {
///       s.start([&] { fill(all, 0, 500); });
///       s.start([&] { fill(all, 500, 1000); });
///     });
///
/// A task may borrow objects that outlive the scope; the locals of the body do not.
///
/// If the body throws, or a task without a handle (for the others see scope::start()), the scope is
/// cancelled: tasks that have not begun are not begun, the others find `cancelled`.  When these
/// have ended, the scope throws the exception; if there are several, `exceptions` holds all of
/// them.
///
/// A handler further out may take the continuation with the scope.  Any process may drop it; only
/// the process that has opened the scope may resume it: in another process, in ordinary code, and
/// in a task of the scope, a resume throws std::logic_error.
///
/// Row: `tasking<...>` with the effects of the tasks; the row of the body is that of the caller.
/// Allocates a frame.  Throws what the body or a task threw; `exceptions` if several did;
/// `cancelled` if a cancellation has unwound the body, or, if the body has no result and cancel()
/// was not called, a task.
template <class F>
[[nodiscard]] auto with_scope(F f) {
  return detail::scope_awaitable<F>(std::move(f));
}

/// Opens a scope that is cancelled at its deadline, and then throws `timed_out`; or when a stop of
/// the token is requested, and then throws `cancelled`.  A body that ends without finding
/// `cancelled` has its result yielded all the same, so what it has received is not lost.  (A body
/// without a result has nothing to lose: if a task of it was cancelled, the scope throws.)
///
///     co_await with_scope({.timeout = 10ms}, f);
///     co_await with_scope(source.get_token(), f);
///
/// Any thread may request a stop, and that allocates nothing; but a signal handler must not, since
/// request_stop() takes locks: chapter 4 shows how a signal stops a scope.  (The token is no member
/// of the options: g++ 12 would destroy it twice.)  Row: as for with_scope(f).  Allocates a frame
/// and a process more than with_scope(f).
template <class F>
[[nodiscard]] auto with_scope(scope_options how, F f) {
  return detail::scope_awaitable<F>(std::move(f), how, {});
}
template <class F>
[[nodiscard]] auto with_scope(std::stop_token asked, F f) {
  return detail::scope_awaitable<F>(std::move(f), scope_options(), std::move(asked));
}
template <class F>
[[nodiscard]] auto with_scope(scope_options how, std::stop_token asked, F f) {
  return detail::scope_awaitable<F>(std::move(f), how, std::move(asked));
}

}  // namespace weft
