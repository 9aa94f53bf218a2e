// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <source_location>
#include <utility>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/detail/mistakes/refused.hpp"
#include "weft/effects/detail/prompt.hpp"
#include "weft/effects/eff.hpp"

namespace weft {

/// Runs a computation whose effects are all handled, from ordinary code, and returns its result.
/// Throws what the computation throws; eff_empty if it was awaited before, or moved from.
///
///     int const n = run(handle<state<int>>(state_of(0), counting()));
///
/// A call inside another computation is ordinary code, too: the inner computation cannot suspend
/// the frames outside the call, and an operation that would do so throws needs_control.  Native
/// stack: O(1).  Thread safe: each call is a run of its own.
template <class T, class... Effects>
T run(eff<T, Effects...> computation,
      std::source_location where = std::source_location::current()) {
  using effects = typename eff<T, Effects...>::effects;
  static_assert(detail::is_empty_row<effects> || !detail::is_well<detail::row_mistake<effects>>,
                "weft: an effect is left unhandled at run: handle<E>(handler, body) it first");
  detail::result_slot<T> answer(where);
  auto const frame = computation.release(detail::internal());
  frame.promise().parent = detail::continuation::ordinary_code();
  frame.promise().evidence = nullptr;
  frame.promise().to = &answer;
  {
    detail::prompt::driver const outside;
    detail::drive(frame);
  }
  return answer.take_at_last();
}

template <class X>
auto run(X&&) {
  static_assert(detail::is_allowed<X>,
                "weft: run takes a computation that is called here or moved: run(f()), or "
                "run(handle<E>(handler, body))");
  return detail::anything();
}
/// For an argument that another static_assert has rejected: adds no second error.
template <class R>
R run(detail::refused<R> r) {
  return r.await_resume();
}

}  // namespace weft
