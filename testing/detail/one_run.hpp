// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/effects/memory/frame_pool.hpp"
#include "weft/effects/proc.hpp"
#include "weft/sched/base/detail/parameters.hpp"
#include "weft/sched/base/detail/program.hpp"
#include "weft/sched/base/spawning.hpp"
#include "weft/sched/runtime/detail/backend_scheduler.hpp"
#include "weft/sched/runtime/detail/outer/outer_handlers.hpp"
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

/// When the first process of a program keeps a log of its answers.
enum class log_use : std::uint8_t {
  never,        // the process cannot fork
  if_it_forks,  // its row has only spawns and `proc`, to which a log makes no difference
  always
};
template <class E>
constexpr bool is_spawning = false;
template <class... Es>
constexpr bool is_spawning<spawning<Es...>> = true;
template <class Row>
constexpr log_use log_use_of = log_use::never;
template <class... Es>
  requires may_fork<row<Es...>>
constexpr log_use log_use_of<row<Es...>> =
    ((is_spawning<Es> || std::is_same_v<Es, proc>) && ...) ? log_use::if_it_forks : log_use::always;

/// Thrown by the run of a subject: the first process has forked, and kept no log.  The search must
/// begin again, after subject::note_fork().
struct fork_without_log {};

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

/// The scheduler of one subject, kept from run to run, unless a run leaves something behind.  Used
/// on one thread.
class kept_scheduler {
  template <class Program>
  using row_of = typename std::invoke_result_t<Program const&>::effects;
  template <class Program>
  using effects_of = typename all_effects_of<row_of<Program>>::type;

 public:
  /// `expects_forks`: whether the first process keeps a log, in case it forks.
  explicit kept_scheduler(bool expects_forks) noexcept : expects_forks_(expects_forks) {}
  kept_scheduler(kept_scheduler const&) = delete;
  kept_scheduler& operator=(kept_scheduler const&) = delete;
  ~kept_scheduler() { end(); }

  /// Whether run() takes programs of this type: those that need no handler outside the scheduler.
  template <class Program>
  static constexpr bool takes = [] {
    if constexpr (is_program<Program>)
      return is_empty_row<typename outer_effects<effects_of<Program>>::type>;
    else
      return false;
  }();

  template <class Program>
  void run(strategy& c, run_log& log, run_limits const& limits, Program program) {
    in_use now(*this);
    bool const is_new = begin_run(c, log, limits);
    scoped_listener const by(c);
    if (is_new) {
      learn_all(*state_, effects_of<Program>(), nullptr);
      blocks_ = frames.alive() - before_;
    }
    schedule_options const usual;
    constexpr log_use use = log_use_of<row_of<Program>>;
    bool const keeps_log =
        use == log_use::always || (use == log_use::if_it_forks && expects_forks_);
    state_->start({usual.log_limit, {}, true, usual.max_processes, usual.when_full},
                  new program_of<Program>(std::move(program)), keeps_log);
    state_->run();
    now.has_ended = true;
  }
  /// Ends the scheduler.
  void end() noexcept;
  /// How many blocks of the frames' pool the scheduler holds: they are no leak of a run.
  [[nodiscard]] std::int64_t blocks() const noexcept { return blocks_; }
  [[nodiscard]] bool expects_forks() const noexcept { return expects_forks_; }

 private:
  struct in_use {
    explicit in_use(kept_scheduler& k) noexcept : home(k) {}
    in_use(in_use const&) = delete;
    in_use& operator=(in_use const&) = delete;
    ~in_use() { home.end_run(has_ended); }
    kept_scheduler& home;
    bool has_ended = false;
  };
  /// Begins a run.  Returns whether the scheduler is new.
  [[nodiscard]] bool begin_run(strategy& c, run_log& log, run_limits const& limits);
  void end_run(bool has_ended) noexcept;

  backend_scheduler<controlled_backend>* state_ = nullptr;
  std::int64_t before_ = 0;
  std::int64_t blocks_ = 0;
  bool const expects_forks_;
};

/// A program that is run again and again, with its types erased.
class subject {
 public:
  subject() = default;
  subject(subject const&) = delete;
  subject& operator=(subject const&) = delete;
  [[nodiscard]] virtual run_result run(strategy& c, run_log& log, run_limits const& limits) = 0;
  /// Runs the program, as run() does, and adds the events to the trace; a subject that cannot trace
  /// runs untraced.
  [[nodiscard]] virtual run_result run_traced(strategy& c, run_log& log, run_limits const& limits,
                                              trace&) {
    return run(c, log, limits);
  }
  /// Whether the first process is known to fork.
  [[nodiscard]] bool forks() const noexcept { return forks_; }
  /// Notes that the first process forks.  Not to be called while the subject is run.
  void note_fork() noexcept { forks_ = true; }

 protected:
  ~subject() = default;

 private:
  bool forks_ = false;
};

template <class MakeState, class Program, class Check, class... Handlers>
class subject_of final : public subject {
 public:
  subject_of(MakeState& make_state, Program& program, Check& check, Handlers&... handlers) noexcept
      : make_state_(make_state), program_(program), check_(check), handlers_(handlers...) {}

  /// Runs the program once.  Throws bad_alloc if the search itself has no memory (CHOICE-3 of
  /// controlled_backend.hpp); fork_without_log if the first process has forked without a log.
  [[nodiscard]] run_result run(strategy& c, run_log& log, run_limits const& limits) override {
    run_result result = run_once<controlled_backend>(c, log, limits);
    if (log.lacks_memory || c.lacks_memory()) throw std::bad_alloc();
    if (log.lacks_log && log.kept && !log.kept->expects_forks()) throw fork_without_log();
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
      auto program = [this, &state] { return program_(state); };
      constexpr bool can_keep = sizeof...(Trace) == 0 && sizeof...(Handlers) == 0 &&
                                kept_scheduler::takes<decltype(program)>;
      auto const run_anew = [&] {
        scheduler<Backend> s(t..., c, log, limits);
        scoped_listener const by(c);
        std::apply(
            [&](Handlers&... handlers) {
              s.start({.virtual_time = true}, std::move(program), std::invoke(handlers, state)...);
            },
            handlers_);
        s.run();
      };
      if constexpr (can_keep) {
        if (log.kept)
          log.kept->run(c, log, limits, std::move(program));
        else
          run_anew();
      } else {
        run_anew();
      }
      ends(log.was_cut ? run_end::cut : run_end::came);
      if (log.was_cut || log.was_given_up) return {verdict::cut, {}};
      return checked(check_, state);
    } catch (std::exception const& e) {
      // True for the deadlock of this run, and for an exception that its unwinding throws; false
      // for the deadlock of a scheduler that the program itself has.
      bool const is_deadlock = is_running && log.was_quiescent;
      bool const is_like_another = is_running && log.was_given_up;  // the strategy ended the run
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

/// The type that `F` returns; void if `F` cannot be called without arguments.
template <class F>
struct state_made_by : identity<void> {};
template <std::invocable F>
struct state_made_by<F> : identity<std::remove_cvref_t<std::invoke_result_t<F>>> {};

/// Calls `f(subject&)` for a program under test, whose functions have to fit one another.
template <class F, class MakeState, class Program, class Check, class... Handlers>
exploration with_subject(F f, MakeState& make_state, Program& program, Check& check,
                         Handlers&... handlers) {
  using state = typename state_made_by<MakeState&>::type;
  constexpr bool makes = !std::is_void_v<state>;
  static_assert(makes,
                "weft: make_state takes nothing and returns the state: [] { return world(); }");
  if constexpr (makes) {
    constexpr bool runs = std::invocable<Program&, state&>;
    constexpr bool checks = std::invocable<Check&, state&>;
    static_assert(runs,
                  "weft: the program takes the state that make_state returns, by reference: "
                  "[](world& w) { return program(w); }");
    static_assert(checks,
                  "weft: the check takes the state that make_state returns, by reference: "
                  "[](world& w) { return w.is_right; }");
    // A pointer to the state, or a number, may be copied.
    constexpr bool copies = std::is_class_v<state> && !requires(state& s) { *s; } &&
                            decltype(parameters_of_any<Program>())::type::are_copies;
    static_assert(!copies,
                  "weft: the program takes a copy of the state, which the check does not see: take "
                  "a world&");
    if constexpr (runs && checks && !copies) {
      subject_of s(make_state, program, check, handlers...);
      return f(static_cast<subject&>(s));
    }
  }
  return {};
}

/// Returns search().  If the first process of the subject has forked without a log, calls search()
/// once more, now with logs.
template <class Search>
exploration searched(subject& s, Search search) {
  try {
    return search();
  } catch (fork_without_log const&) {
    s.note_fork();
  }
  return search();
}

extern template class backend_scheduler<controlled_backend>;           // compiled in one_run.cpp
extern template class backend_scheduler<tracing<controlled_backend>>;  // compiled in one_run.cpp

}  // namespace weft::detail
