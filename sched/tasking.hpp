// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "effects/detail/refused.hpp"
#include "effects/operation.hpp"
#include "effects/row.hpp"
#include "sched/detail/task.hpp"

namespace weft {

/// Having things done at the same time, and waiting for them: what when_all performs.  A task may
/// perform `Effects...`, and tasking<Effects...> itself.
template <class... Effects>
struct tasking {
  /// All of them.
  struct wait : op<void, seals> {
    explicit wait(detail::join& j) noexcept : what(&j) {}
    detail::join* what;                                       // in the awaiting frame
    friend std::size_t hash_value(wait const&) { return 0; }  // addresses differ from run to run
  };
  using operations = op_list<wait>;
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
