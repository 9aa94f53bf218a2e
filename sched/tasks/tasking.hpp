// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/effects/operation.hpp"
#include "weft/effects/row.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/scheduled.hpp"
#include "weft/sched/base/time_span.hpp"
#include "weft/sched/sync/detail/timers.hpp"
#include "weft/sched/tasks/detail/scope_core.hpp"
#include "weft/sched/tasks/detail/task.hpp"

namespace weft {

namespace detail {
class scope_limit;
}  // namespace detail

/// Starting tasks and waiting for them: the effect that when_all, with_scope and task_handle
/// perform.  A task may perform `Effects...`, tasking<Effects...> itself, and tasking<>.
///
/// A task is light if it may perform no effect that a scheduler handles for a process, other than
/// tasking; effects handled outside the scheduler do not matter.  A light task is no process, but a
/// call by the process that waits for it, unless it is taken before: by another worker, or by the
/// same worker after the process that has pushed it was suspended (BACKEND-7).  Any other task is a
/// process from its beginning.
template <class... Effects>
struct tasking;
template <>
struct tasking<> {
  /// Waits until all tasks of a join have ended.
  struct [[nodiscard("weft: co_await it")]] wait : op<void, seals> {
    static constexpr bool must_be_answered = true;
    [[nodiscard("weft: co_await it")]] explicit wait(detail::join& j) noexcept : what(&j) {}
    detail::join* what;                                       // lies in the awaiting frame
    friend std::size_t hash_value(wait const&) { return 0; }  // addresses differ between runs
  };
  /// Waits until all tasks of a list, from `first` on, have ended.
  struct [[nodiscard("weft: co_await it")]] await : op<void, seals> {
    static constexpr detail::scheduling_rule scheduling{.step = detail::step_kind::ends,
                                                        .waits_in_frame = true};
    [[nodiscard("weft: co_await it")]] explicit await(detail::waitable_task* first) noexcept
        : how(first) {}
    detail::task_wait how;
    friend std::size_t hash_value(await const&) { return 0; }
  };
  /// Waits as await does, until an instant at the latest.  Answered with whether all tasks have
  /// ended by then.
  struct [[nodiscard("weft: co_await it")]] await_until : op<bool, seals> {
    static constexpr detail::scheduling_rule scheduling{.step = detail::step_kind::ends,
                                                        .waits_in_frame = true};
    [[nodiscard("weft: co_await it")]] await_until(detail::waitable_task* first, instant t,
                                                   std::optional<time_span> from_now = {}) noexcept
        : how(first), time(from_now), until(t, how.here.parked) {}
    await_until(await_until&& other) noexcept
        : how(std::move(other.how)), time(other.time), until(other.until.at(), how.here.parked) {}
    detail::task_wait how;
    std::optional<time_span> time;  // if set, `until` is set to this long from now
    detail::alarm until;
    friend std::size_t hash_value(await_until const&) { return 0; }
  };
  /// Starts a task that is in no scope.
  struct [[nodiscard("weft: co_await it")]] start : op<void, seals> {
    static constexpr detail::scheduling_rule scheduling{.is_free = true, .follows_events = true};
    [[nodiscard("weft: co_await it")]] explicit start(detail::task_record& r) noexcept : what(&r) {}
    detail::task_record* what;
    friend std::size_t hash_value(start const&) { return 0; }
  };
  /// Opens a scope, which lies in the performing frame.
  struct [[nodiscard("weft: co_await it")]] enter : op<void, seals> {
    [[nodiscard("weft: co_await it")]] explicit enter(detail::scope_core& s,
                                                      detail::scope_limit* l) noexcept
        : what(&s), limit(l) {}
    detail::scope_core* what;
    detail::scope_limit* limit;  // null if nothing cancels the scope from outside
    friend std::size_t hash_value(enter const&) { return 0; }
  };
  /// Performed at the end of a scope.  Answered with true if the scope is over; otherwise the
  /// process has waited, and performs `leave` again.
  struct [[nodiscard("weft: co_await it")]] leave : op<bool, seals> {
    static constexpr bool must_be_answered = true;
    [[nodiscard("weft: co_await it")]] explicit leave(detail::scope_core& s) noexcept : what(&s) {}
    detail::scope_core* what;
    friend std::size_t hash_value(leave const&) { return 0; }
  };
  using operations = op_list<wait, await, await_until, start, enter, leave>;
};
template <class... Effects>
struct tasking {
  using general = tasking<>;  // the effect whose clauses answer (delegating_evidence.hpp)
  template <class Operation>
  using with_row = detail::operation_with_row<tasking, Operation>;
  using wait = with_row<general::wait>;
  using await = with_row<general::await>;
  using await_until = with_row<general::await_until>;
  using start = with_row<general::start>;
  using enter = with_row<general::enter>;
  using leave = with_row<general::leave>;
  using operations = op_list<wait, await, await_until, start, enter, leave>;
};

namespace detail {

template <class... Es>
struct effects_named_by<tasking<Es...>> : identity<row_set<Es...>> {};

/// The effects that tasks may perform.  tasking<...> and tasking<> are among them, so that tasks
/// may have tasks.
template <class Tasking>
struct row_of_tasks;
template <class... Es>
struct row_of_tasks<tasking<Es...>> : identity<row_set<Es..., tasking<Es...>, tasking<>>> {};
template <class Tasking>
using row_of_tasks_t = typename row_of_tasks<Tasking>::type;

/// Whether the tasks of `T` may perform all effects that the tasks of any tasking<...> in the row
/// may.
template <class T, class Others>
constexpr bool is_widest = false;
template <class T, class... Ts>
constexpr bool is_widest<T, row<Ts...>> =
    (is_empty_row<row_difference<row_of_tasks_t<Ts>, row_of_tasks_t<T>>> && ...);
/// The first of `Ts` that is the widest of `All`; void if there is none.
template <class All, class... Ts>
struct first_widest : identity<void> {};
template <class All, class T, class... Ts>
struct first_widest<All, T, Ts...>
    : std::conditional_t<is_widest<T, All>, identity<T>, first_widest<All, Ts...>> {};

template <class... Es>
constexpr bool is_scheduled<tasking<Es...>> = true;

/// The tasking<...> of a row, the widest if there are several; void if there is none, or if none is
/// the widest.
template <class Row, class... Found>
struct tasking_in : first_widest<row<Found...>, Found...> {
  static constexpr int count = sizeof...(Found);
};
template <class E, class... Es, class... Found>
struct tasking_in<row<E, Es...>, Found...> : tasking_in<row<Es...>, Found...> {};
template <class... Fs, class... Es, class... Found>
struct tasking_in<row<tasking<Fs...>, Es...>, Found...>
    : tasking_in<row<Es...>, Found..., tasking<Fs...>> {};

/// Whether a coroutine of the row `Row` may start tasks with these rows.
template <class Row, class... Tasks>
consteval bool may_start() {
  using found = tasking_in<Row>;
  constexpr bool has_one = !std::is_void_v<typename found::type>;
  constexpr bool has_some = found::count > 0;
  static_assert(has_some || !is_well<row_mistake<Row>>,
                "weft: tasks in a coroutine whose row has no tasking<...>: name it in eff<...>, "
                "with the effects that the tasks may perform");
  static_assert(!has_some || has_one,
                "weft: tasks in a coroutine whose row has several tasking<...>, none of which "
                "names the effects of all: keep one");
  if constexpr (has_one && is_well<row_mistake<Row>>) {
    using missing = row_difference<row_set<Tasks...>, row_of_tasks_t<typename found::type>>;
    static_assert(is_empty_row<missing>,
                  "weft: the task may perform an effect that tasking<...> of the coroutine that "
                  "starts it does not name");
    return is_empty_row<missing>;
  }
  return false;
}

}  // namespace detail
}  // namespace weft
