// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/effects/detail/internal.hpp"
#include "weft/sched/backends/one_thread.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/runtime/detail/incoming/submitting.hpp"
#include "weft/sched/runtime/detail/outer/outer_handlers.hpp"
#include "weft/sched/runtime/detail/reports/dumping.hpp"
#include "weft/sched/runtime/detail/scheduler_members.hpp"
#include "weft/sched/runtime/polling.hpp"
#include "weft/sched/runtime/shutdown.hpp"

namespace weft {

/// How a program is run.
struct schedule_options {
  /// Whether the first process keeps a log, and therefore may fork; without a value: whether `proc`
  /// is in its row.  Set it to true to take checkpoints of a program without `proc`.
  std::optional<bool> forkable{};
  /// The maximum number of answers in a log; beyond it the process can no longer fork.
  std::size_t log_limit = detail::replay_log::usual_limit;
  /// When a stop is requested, all processes find `cancelled`, at their next operation or where
  /// they wait, and unwind.  Then the call that runs the scheduler throws `cancelled`, if a process
  /// has found it.
  std::stop_token stop{};
  /// Whether time is virtual (timing.hpp): it stands still while a process is ready, and jumps to
  /// the next alarm when none is.
  bool virtual_time = false;
  /// The maximum number of processes at once, including the first; 0: no limit.  Tasks that become
  /// processes count, but are never refused.
  std::size_t max_processes = 0;
  /// Whether spawn, fork and submit wait or fail if there are `max_processes` processes already.
  overflow_policy when_full = overflow_policy::fail;
  /// The trace to which a traced scheduler adds its events (trace/tracing.hpp):
  /// schedule<tracing<...>>.
  weft::trace* trace = nullptr;
};

namespace detail {

template <class B>
struct options_for : identity<schedule_options> {};
template <configurable_backend B>
struct options_for<B> : identity<typename B::options> {};

/// The type of the queue of ready processes, if the backend gives that queue as a value.
template <class B>
struct versions_of : identity<nothing> {
  static constexpr bool are_given = false;
};
template <class B>
  requires requires(typename B::worker& w) { w.ready(); }
struct versions_of<B>
    : identity<std::remove_cvref_t<decltype(std::declval<typename B::worker&>().ready())>> {
  static constexpr bool are_given = true;
};

/// Every effect that a process of the program may perform: the effects of the program's row, those
/// that the spawning<...> and tasking<...> in it name, those that are named there in turn, and so
/// on.
template <class Row, class More = Row>
struct all_effects_of;
template <class Row>
struct all_effects_of<Row, row<>> : identity<Row> {};
template <class Row, class E, class... Es>
struct all_effects_of<Row, row<E, Es...>> : all_effects_of<Row, row<Es...>> {};
template <class Row, class... Fs, class... Es>
struct all_effects_of<Row, row<spawning<Fs...>, Es...>>
    : all_effects_of<row_set<Row, Fs...>,
                     row_set<row<Es...>, row_difference<row_set<Fs...>, Row>>> {};
/// Each task may also perform tasking<>.
template <class Row, class... Fs, class... Es>
struct all_effects_of<Row, row<tasking<Fs...>, Es...>>
    : all_effects_of<row_set<Row, Fs..., tasking<>>,
                     row_set<row<Es...>, row_difference<row_set<Fs...>, Row>>> {};

/// Whether a process of this row may fork, and therefore keeps a log.
template <class Row>
constexpr bool may_fork = is_among<proc, Row>;

template <class Row>
struct outer_effects;
template <class... Es>
struct outer_effects<row<Es...>>
    : collected<row<>, std::conditional_t<is_scheduled<Es>, row<>, row<Es>>...> {};

}  // namespace detail

/// A scheduler as an object: for a caller that runs a program step by step or in a loop of another
/// library, takes checkpoints, submits processes from outside, or shuts the scheduler down.
///
///     scheduler<> s;
///     s.start(program, console_to_stream(std::cout));
///     s.step();
///     auto const here = s.checkpoint();
///     s.run();
///     s.run(here);  // the same future once more
///
/// Most programs need only schedule().  Not thread safe, except for submitter(), shut_down() and
/// dump(), and not to be used by its own processes, except for dump().  Making one allocates its
/// state.  On a backend of several threads there is run(), but no step(), no poll() and no
/// checkpoint().
template <backend Backend = one_thread>
class scheduler {
 public:
  /// The options of the backend, if it has its own; else schedule_options.
  using options = typename detail::options_for<Backend>::type;

  /// Passes the arguments to the backend.
  template <class... Args>
    requires std::constructible_from<Backend, Args...>
  explicit scheduler(Args&&... args)
      : state_(new detail::backend_scheduler<Backend>(std::forward<Args>(args)...)) {}
  scheduler(scheduler const&) = delete;
  scheduler& operator=(scheduler const&) = delete;
  /// Unwinds the processes that are left.
  ~scheduler() { state_->end(); }

  /// Starts the first process, under these handlers: lvalues are borrowed, rvalues are kept.  To be
  /// called once.  Allocates the process, its program, and a table of the handlers.  Throws
  /// std::logic_error at a second call, or for a `.trace` without a tracing backend; bad_alloc.
  template <class Program, class... Handlers>
  scheduler& start(Program program, Handlers&&... handlers) {
    return start(options(), std::move(program), std::forward<Handlers>(handlers)...);
  }
  template <class Program, class... Handlers>
  scheduler& start(options how, Program program, Handlers&&... handlers) {
    static_assert(detail::is_program<Program>,
                  "weft: schedule takes a program: a function that can be copied, called as const "
                  "without arguments, and returns eff<void, ...>");
    if constexpr (detail::is_program<Program>) {
      using row = typename std::invoke_result_t<Program const&>::effects;
      using all = typename detail::all_effects_of<row>::type;
      using outside = typename detail::outer_effects<all>::type;
      using mistakes = detail::outer_mistake<concurrent_backend<Backend>, outside, Handlers...>;
      if constexpr (decltype(mistakes::find())::report()) {
        if (installed_ || state_->was_started)
          throw std::logic_error("weft: a scheduler was started twice");
        if constexpr (!detail::observer_of<Backend>::keeps_trace && requires { how.trace; })
          detail::require_no_trace(how.trace);
        if constexpr (detail::is_empty_row<outside>) {
          learn_all(*state_, all(), nullptr);
        } else {
          using installed_handlers = detail::installed_handlers<outside, Handlers...>;
          auto* const made = new installed_handlers(std::forward<Handlers>(handlers)...);
          std::unique_ptr<detail::installed_handlers_base> owned(made);
          learn_all(*state_, all(), *made);
          installed_ = std::move(owned);
        }
        state_->start({how.log_limit, std::move(how.stop), how.virtual_time, how.max_processes,
                       how.when_full},
                      new detail::program_of<Program>(std::move(program)),
                      how.forkable.value_or(detail::may_fork<row>));
      }
    }
    return *this;
  }

  /// Runs the process whose turn it is, up to its next yield, fork, wait or end, and returns true.
  /// If no process is left, throws what run() would throw at its end, such as the failures of
  /// processes; or returns false, if there is nothing to throw.  Throws std::logic_error if a
  /// process of this scheduler calls it.
  bool step() {
    constexpr bool has_one_thread = !concurrent_backend<Backend>;
    static_assert(has_one_thread,
                  "weft: step() runs one process on the calling thread: on a backend of several "
                  "threads there is run() only");
    if constexpr (has_one_thread)
      return idle().step();
    else
      return false;
  }
  /// Runs ready processes, for at most `most` steps (a call of step() is one), and never sleeps:
  /// for a program whose thread belongs to another event loop (polling.hpp).  Returns which work is
  /// left.  Throws what run() would throw, if no process is left; std::logic_error if a process of
  /// this scheduler calls it.
  poll_result poll(std::size_t most = 256) {
    constexpr bool has_one_thread = !concurrent_backend<Backend>;
    static_assert(has_one_thread,
                  "weft: poll() runs processes on the calling thread: on a backend of several "
                  "threads there is run() only");
    if constexpr (has_one_thread)
      return idle().poll(most);
    else
      return poll_result::ended;
  }
  /// Returns the next instant at which a process that waits for a time, or has a deadline, is due;
  /// nullopt if there is none, or if time is virtual: then poll() advances the time.  To be called
  /// when poll() has returned `waiting`.  O(1).
  [[nodiscard]] std::optional<instant> next_deadline() const noexcept {
    return state_->next_deadline();
  }
  /// Sets the function that is called when something comes from outside after poll() has returned
  /// `waiting`: an event, a submitted process, the end of the last submitter, a stop, a shutdown.
  /// The function is called once for each such return, by the thread that brings the event and
  /// holds a lock of the scheduler: the function must not throw, nor use this scheduler, but have
  /// the loop call poll() soon (wakeup_descriptor.hpp is for loops that wait for descriptors).  An
  /// empty function takes back the one that was set; after that, and when the scheduler is
  /// destroyed, the function is called no more.  Called by the thread of the loop.  Throws
  /// std::logic_error if a process of this scheduler calls it; bad_alloc.
  void on_wakeup(std::function<void()> f) {
    constexpr bool can_leave = leaving_backend<Backend>;
    static_assert(
        can_leave,
        "weft: on_wakeup() is for a backend whose worker may leave its thread to an event "
        "loop: one_thread is one, those of several threads are not");
    if constexpr (can_leave) idle().base().on_wakeup(std::move(f));
  }
  /// Runs until no process is left.  If a process throws, the others find `cancelled` at their next
  /// operation, and unwind; then run() throws that exception, or `exceptions` if several processes
  /// failed.  Throws `deadlock` if all processes that are left wait, and nothing from outside can
  /// wake one; std::logic_error if a process of this scheduler calls it.
  void run() { idle().run(); }

  /// Returns an object that starts processes from outside (submitter.hpp).  Thread safe.  Throws
  /// std::logic_error if this scheduler was not started, or if no process of the program may
  /// perform one of the effects; scheduler_stopped if the run is over, or is being stopped.
  /// Allocates the right to submit.
  template <class... Effects>
  [[nodiscard]] weft::submitter<Backend, Effects...> submitter() {
    auto right = std::make_shared<detail::submission_right<Backend>>(*state_);
    right->at = let_submit(*state_, detail::row_set<Effects...>());
    return weft::submitter<Backend, Effects...>(detail::internal(), std::move(right));
  }
  /// Ends all processes.  Called by any thread that runs no process of this scheduler, while
  /// another thread is in run().  After the call nothing can be submitted.  Every process finds
  /// `cancelled`, with the reason, at its next operation, or where it waits; if the process catches
  /// the exception and goes on, it finds `cancelled` again.  A process that is left at the
  /// deadline, or that has found `cancelled` a hundred times, is unwound at its next operation, or
  /// where it waits.  Returns when no process is left and run() is about to return; run() then
  /// throws only exceptions of processes other than `cancelled`.
  ///
  /// A process that computes without performing any operation cannot be unwound: shut_down() waits
  /// for it.  While no thread is in run(), shut_down() returns at once, and the next run(), step()
  /// or poll(), or the destructor, unwinds the processes; for a loop that polls, shut_down() calls
  /// the function that was given to on_wakeup().
  /// A second call waits, too, and returns the same report.  Throws std::logic_error in a process
  /// of this scheduler; bad_alloc.  Thread safe.  O(n) in the processes; allocates the report.
  shutdown_report shut_down(instant deadline, std::string const& reason = {}) {
    return detail::shut_down(*state_, deadline, reason);
  }
  /// Shuts down as shut_down(deadline) does, with a deadline `time` from now.  Allocates, and
  /// throws, as that overload does.
  shutdown_report shut_down(std::chrono::nanoseconds time, std::string const& reason = {}) {
    auto const now = instant::clock::now();
    return shut_down(time < instant::max() - now ? now + time : instant::max(), reason);
  }

  /// A version of the queue of ready processes, each with its log.  While a snapshot is kept, a
  /// change to the queue allocates the parts that it changes.
  class snapshot;
  /// Returns a snapshot of the current state.  O(1), and a copy of the list of failures.  Throws
  /// unforkable if a process waits, keeps no log, or has a log that has ended: by an operation that
  /// seals, by the limit, or for lack of memory.
  [[nodiscard]] snapshot checkpoint();
  /// Drops the processes that exist, and runs those of the checkpoint: the same future, as far as
  /// the handlers outside the scheduler give the same answers.  O(n) in the processes that it
  /// drops, and the cost of run().  Throws std::logic_error if the checkpoint belongs to another
  /// scheduler; what run() throws.
  void run(snapshot const& from);

  /// Describes the processes that wait, each with its operation and its place in the source, a line
  /// for each; and the process that calls, if one of this scheduler does.
  ///
  /// Safe while another thread is in run(): then a process of the library's own writes the
  /// description, on a thread of the scheduler, and dump() waits for it; so it waits for a process
  /// that computes without performing any operation, if there is no other thread.  O(n log n) in
  /// the processes that wait; allocates the text; throws bad_alloc.
  [[nodiscard]] std::string dump() { return detail::dump(*state_); }

  /// The backend, for a caller that inspects it.
  [[nodiscard]] Backend& base() noexcept { return state_->base(); }
  /// The number of processes.
  [[nodiscard]] std::size_t alive() const noexcept { return state_->alive(); }

 private:
  /// The scheduler's state.  Throws std::logic_error if the scheduler runs.
  detail::backend_scheduler<Backend>& idle() {
    if (state_->is_at_work())
      throw std::logic_error("weft: a scheduler was told to run by one of its own processes");
    return *state_;
  }

  std::unique_ptr<detail::installed_handlers_base> installed_;
  detail::backend_scheduler<Backend>*
      state_;  // a prompt, which handlers may keep alive: end() drops this object's count of it
};

template <backend Backend>
class scheduler<Backend>::snapshot {
  using queue = typename detail::versions_of<Backend>::type;

 public:
  snapshot(detail::internal, std::uint64_t home, queue q, std::size_t n, instant t,
           std::vector<exceptions::failure> f)
      : home_(home), ready_(std::move(q)), alive_(n), time_(t), failures_(std::move(f)) {}
  /// The serial number of the scheduler.
  [[nodiscard]] std::uint64_t home() const noexcept { return home_; }
  /// The queue of ready processes.
  [[nodiscard]] queue const& ready() const noexcept { return ready_; }
  /// The number of processes.
  [[nodiscard]] std::size_t alive() const noexcept { return alive_; }
  /// The virtual time of the checkpoint.
  [[nodiscard]] instant time() const noexcept { return time_; }
  /// The failures of processes that had ended before the checkpoint.
  [[nodiscard]] std::vector<exceptions::failure> const& failures() const noexcept {
    return failures_;
  }

 private:
  std::uint64_t home_;
  queue ready_;
  std::size_t alive_;
  instant time_;
  std::vector<exceptions::failure> failures_;
};

template <backend Backend>
auto scheduler<Backend>::checkpoint() -> snapshot {
  constexpr bool can_be_taken = detail::versions_of<Backend>::are_given;
  static_assert(can_be_taken,
                "weft: a checkpoint is taken on a backend whose worker returns the ready processes "
                "as a value, worker.ready(): one_thread is one, those of several threads are not");
  auto& s = idle();
  if constexpr (can_be_taken) {
    if (!can_checkpoint(s)) throw unforkable("weft: checkpoint: " + why_no_checkpoint(s));
    detail::observer_of<Backend>::on_version(s, trace_kind::checkpoint, s.worker().ready());
    return snapshot(detail::internal(), s.serial(), s.worker().ready(), s.alive(), s.virtual_now_,
                    s.failures.all());
  } else {
    return snapshot(detail::internal(), s.serial(), {}, s.alive(), s.virtual_now_,
                    s.failures.all());
  }
}

template <backend Backend>
void scheduler<Backend>::run(snapshot const& from) {
  auto& s = idle();
  if (from.home() != s.serial())
    throw std::logic_error("weft: a checkpoint is run by the scheduler that it is of");
  detail::observer_of<Backend>::on_version(s, trace_kind::restore, from.ready());
  start_over(s, from.ready(), from.alive(), from.time(), from.failures());
  s.run();
}

namespace detail {
extern template class backend_scheduler<one_thread>;  // backend_scheduler.cpp
}  // namespace detail
}  // namespace weft
