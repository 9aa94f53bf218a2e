// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/sched/runtime/detail/backend_scheduler.hpp"
#include "weft/sched/runtime/scheduler.hpp"
#include "weft/testing/detail/controlled_backend.hpp"
#include "weft/testing/exploration.hpp"
#include "weft/trace/trace.hpp"
#include "weft/trace/tracing_backend.hpp"

/// One run of a program under test.
namespace weft::detail {

/// The types that a check may return.
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

/// Installs the listener of the strategy while this object lives.
class scoped_listener {
 public:
  explicit scoped_listener(strategy& c) noexcept
      : before_(std::exchange(location_listener::of_thread, c.listener())) {}
  scoped_listener(scoped_listener const&) = delete;
  scoped_listener& operator=(scoped_listener const&) = delete;
  ~scoped_listener() { location_listener::of_thread = before_; }

 private:
  location_listener* before_;
};

/// A program that is run again and again, with its types erased.
class subject {
 public:
  subject() = default;
  subject(subject const&) = delete;
  subject& operator=(subject const&) = delete;
  [[nodiscard]] virtual run_result run(strategy& c, run_log& log, run_limits const& limits) = 0;
  /// The same, traced.
  [[nodiscard]] virtual run_result run_traced(strategy& c, run_log& log, run_limits const& limits,
                                              trace&) {
    return run(c, log, limits);
  }

 protected:
  ~subject() = default;
};

template <class MakeState, class Program, class Check, class... Handlers>
class subject_of final : public subject {
 public:
  subject_of(MakeState& make_state, Program& program, Check& check, Handlers&... handlers) noexcept
      : make_state_(make_state), program_(program), check_(check), handlers_(handlers...) {}

  /// Runs the program once.  Throws bad_alloc if the search itself has no memory (CHOICE-3 of
  /// controlled_backend.hpp).
  [[nodiscard]] run_result run(strategy& c, run_log& log, run_limits const& limits) override {
    run_result result = run_once<controlled_backend>(c, log, limits);
    if (log.lacks_memory || c.lacks_memory()) throw std::bad_alloc();
    return result;
  }
  [[nodiscard]] run_result run_traced(strategy& c, run_log& log, run_limits const& limits,
                                      trace& t) override {
    return run_once<tracing<controlled_backend>>(c, log, limits, t);
  }

 private:
  template <class Backend, class... Trace>
  run_result run_once(strategy& c, run_log& log, run_limits const& limits, Trace&... t) {
    log.clear();
    bool is_running = true;
    auto const ends = [&](run_end how) {
      if (std::exchange(is_running, false)) c.on_run_end(how);
    };
    try {
      auto state = [&] {
        scoped_listener const by(c);
        return make_state_();
      }();
      {
        scheduler<Backend> s(t..., c, log, limits);
        scoped_listener const by(c);
        std::apply(
            [&](Handlers&... handlers) {
              s.start(
                  {.virtual_time = true}, [this, &state] { return program_(state); },
                  std::invoke(handlers, state)...);
            },
            handlers_);
        s.run();
      }
      ends(log.was_cut ? run_end::cut : run_end::came);
      if (log.was_cut || log.was_given_up) return {verdict::cut, {}};
      return checked(check_, state);
    } catch (std::exception const& e) {
      // True for the deadlock of this run, and for an exception that its unwinding throws; false
      // for the deadlock of a scheduler that the program itself has.
      bool const is_deadlock = is_running && log.was_quiescent;
      bool const is_like_another = is_running && log.was_given_up;  // the strategy ended it
      ends(is_deadlock ? run_end::came : run_end::threw);
      if (is_like_another) return {verdict::cut, {}};
      return {is_deadlock ? verdict::deadlock : verdict::failed, e.what()};
    } catch (...) {
      ends(run_end::threw);
      return {verdict::failed, "something was thrown that is no std::exception"};
    }
  }

  MakeState& make_state_;
  Program& program_;
  Check& check_;
  std::tuple<Handlers&...> handlers_;
};

extern template class backend_scheduler<controlled_backend>;           // one_run.cpp
extern template class backend_scheduler<tracing<controlled_backend>>;  // one_run.cpp

}  // namespace weft::detail
