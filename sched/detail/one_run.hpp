// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "sched/detail/choosing.hpp"
#include "sched/errors.hpp"
#include "sched/exploration.hpp"
#include "sched/scheduler.hpp"

/// One run of a program under test.
namespace weft::detail {

/// What a check may return.
template <class R>
concept check_result = std::is_void_v<R> || std::same_as<R, bool> || std::same_as<R, run_result> ||
                       std::convertible_to<R, std::string>;

template <class Check, class State>
run_result checked(Check& check, State& state) {
  using R = std::invoke_result_t<Check&, State&>;
  constexpr bool says_what_is_right = check_result<R>;
  static_assert(says_what_is_right,
                "weft: a check of explore returns whether the state is right: a bool; or the "
                "outcome's name, a string, which is right; or both, a run_result; or nothing, and "
                "throws");
  if constexpr (std::is_void_v<R>) {
    std::invoke(check, state);
    return {};
  } else if constexpr (std::same_as<R, run_result>) {
    return std::invoke(check, state);
  } else if constexpr (std::same_as<R, bool>) {
    return {std::invoke(check, state) ? verdict::ok : verdict::failed, {}};
  } else if constexpr (says_what_is_right) {
    return {verdict::ok, std::invoke(check, state)};
  } else {
    return {};
  }
}

template <class MakeState, class Program, class Check, class... Handlers>
run_result run_once(choices& c, std::size_t most_steps, MakeState& make_state, Program& program,
                    Check& check, Handlers&... handlers) {
  c.rewind();
  try {
    auto state = make_state();
    {
      scheduler<choosing> s(c, most_steps);
      s.start(
          {.virtual_time = true}, [&program, &state] { return program(state); },
          std::invoke(handlers, state)...);
      s.run();
    }
    if (c.was_cut()) return {verdict::cut, {}};
    return checked(check, state);
  } catch (deadlock const& e) {
    return {verdict::deadlock, e.what()};
  } catch (std::exception const& e) {
    return {verdict::failed, e.what()};
  } catch (...) {
    return {verdict::failed, "something was thrown that is no std::exception"};
  }
}

}  // namespace weft::detail
