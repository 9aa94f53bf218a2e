// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "effects/detail/refused.hpp"
#include "effects/operation.hpp"
#include "effects/row.hpp"
#include "sched/backend.hpp"
#include "sched/detail/task.hpp"
#include "sched/detail/task_scope.hpp"
#include "sched/detail/timers.hpp"

namespace weft {

/// Having things done at the same time, and waiting for them: what when_all, with_scope and
/// task_handle perform.  A task may perform `Effects...`, and tasking<Effects...> itself.
///
/// A task that may perform nothing that a scheduler does for a process (anything but tasking, and
/// what is handled outside) is light: it is no process as long as nobody else takes it, but a call
/// by who waits for it.  Another is a process when it begins.
template <class... Effects>
struct tasking {
  /// Until all of these have ended.
  struct wait : op<void, seals> {
    static constexpr bool must_be_answered = true;
    explicit wait(detail::join& j) noexcept : what(&j) {}
    detail::join* what;                                       // in the awaiting frame
    friend std::size_t hash_value(wait const&) { return 0; }  // addresses differ from run to run
  };
  /// Until these have ended, one after the other.
  struct await : op<void, seals> {
    explicit await(detail::awaited_task* first) noexcept : how(first) {}
    detail::task_wait how;
    friend std::size_t hash_value(await const&) { return 0; }
  };
  /// The same, until then at the latest: false if not all have.
  struct await_until : op<bool, seals> {
    await_until(detail::awaited_task* first, instant t,
                std::optional<instant::duration> from_now = {}) noexcept
        : how(first), time(from_now), until(t, how.here.who) {}
    await_until(await_until&& other) noexcept
        : how(std::move(other.how)), time(other.time), until(other.until.at(), how.here.who) {}
    detail::task_wait how;
    std::optional<instant::duration> time;  // instead: so much later than now
    detail::alarm until;
    friend std::size_t hash_value(await_until const&) { return 0; }
  };
  /// Starts one that is in no scope.
  struct start : op<void, seals> {
    explicit start(detail::task_record& r) noexcept : what(&r) {}
    detail::task_record* what;
    friend std::size_t hash_value(start const&) { return 0; }
  };
  /// Opens a scope, which is in that frame.
  struct enter : op<void, seals> {
    explicit enter(detail::scope_core& s) noexcept : what(&s) {}
    detail::scope_core* what;
    friend std::size_t hash_value(enter const&) { return 0; }
  };
  /// At its end: true if it is over.  Else it has been waited for, and is to be asked again.
  struct leave : op<bool, seals> {
    static constexpr bool must_be_answered = true;
    explicit leave(detail::scope_core& s) noexcept : what(&s) {}
    detail::scope_core* what;
    friend std::size_t hash_value(leave const&) { return 0; }
  };
  using operations = op_list<wait, await, await_until, start, enter, leave>;
};

namespace detail {

template <class Row>
struct tasking_in {
  static constexpr int count = 0;
};
template <class E, class... Es>
struct tasking_in<row<E, Es...>> : tasking_in<row<Es...>> {};
template <class... Fs, class... Es>
struct tasking_in<row<tasking<Fs...>, Es...>> {
  static constexpr int count = 1 + tasking_in<row<Es...>>::count;
  using type = tasking<Fs...>;
  using for_tasks = row_set<Fs..., type>;
};

/// Whether a coroutine of the row `Row` may have tasks with these rows.
template <class Row, class... Tasks>
consteval bool may_start() {
  using found = tasking_in<Row>;
  static_assert(found::count > 0,
                "weft: tasks in a coroutine whose row has no tasking<...>: name it in eff<...>, "
                "with the effects that the tasks may perform");
  static_assert(found::count < 2,
                "weft: tasks in a coroutine whose row has two tasking<...>: keep one");
  if constexpr (found::count == 1) {
    using missing = row_difference<row_set<Tasks...>, typename found::for_tasks>;
    static_assert(is_empty_row<missing>,
                  "weft: the task may perform an effect that tasking<...> of the coroutine that "
                  "starts it does not name");
    return is_empty_row<missing>;
  }
  return false;
}

}  // namespace detail
}  // namespace weft
