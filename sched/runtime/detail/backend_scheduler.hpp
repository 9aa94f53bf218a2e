// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <source_location>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/effects/handle.hpp"
#include "weft/effects/proc.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/forkable_process.hpp"
#include "weft/sched/base/detail/lost_process.hpp"
#include "weft/sched/base/detail/observer.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/spawning.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/mail/routing.hpp"
#include "weft/sched/runtime/detail/ending/shutting_down.hpp"
#include "weft/sched/runtime/detail/outer/interposed.hpp"
#include "weft/sched/runtime/detail/scheduler_core.hpp"
#include "weft/sched/runtime/polling.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/sync/gate.hpp"
#include "weft/sched/sync/timing.hpp"
#include "weft/sched/tasks/detail/scope_core.hpp"
#include "weft/sched/tasks/tasking.hpp"

namespace weft::detail {

/// A scheduler on a backend: goes from process to process.
///
/// An operation reaches the scheduler by a clause of clause_dispatch.hpp, which suspends the
/// process, calls `on(scheduler, operation)`, and goes on to the frame that on() returns, most
/// often that of next().  The functions on() stand beside their operations, in
/// */detail/*_clauses.hpp and tasks/detail/*.hpp.  timekeeping.hpp has the clock, running.hpp the
/// threads; an observer (observer.hpp) adds the hooks of tests and traces.  All members are public,
/// since only algorithms of the library see a backend_scheduler.  The clauses of `mail`, `sync` and
/// `tasks` use only the members that the concept scheduling_services names.
template <backend Backend>
class backend_scheduler final : public scheduler_core, public scope_runner {
 public:
  using backend_type = Backend;
  static constexpr bool on_several_threads = concurrent_backend<Backend>;
  using observer = observer_of<Backend>;  // hooks for tests and traces
  /// Whether most puts and takes need no thunk in memory (in_place_backend).  False if there is an
  /// observer, which has to see them all.
  static constexpr bool puts_in_place = in_place_backend<Backend> && !observer::is_there;
  static constexpr header_layout const& header = header_layout_for<Backend>();

  template <class... Args>
  explicit backend_scheduler(Args&&... args)
      : scheduler_core(on_several_threads, Backend::wakes, observer::outside_may_come),
        backend_(std::in_place, std::forward<Args>(args)...) {
    if constexpr (!on_several_threads) worker_.emplace(*backend_, 0U);
    observer::on_made(*this);
  }

  // ---- the current thread

  /// With several threads: the state of one worker, and the backend's part of that worker.
  struct worker_slot : worker_state {
    worker_slot(backend_scheduler& s, unsigned index)
        : worker_state(s), worker(*s.backend_, index) {}
    typename Backend::worker worker;
  };
  [[nodiscard]] worker_state& here() noexcept {
    return on_several_threads ? *worker_state::of_thread : own;
  }
  [[nodiscard]] worker_state& worker_here() noexcept {
    return on_several_threads ? scheduler_core::worker_here() : own;  // one thread: no look-up
  }
  [[nodiscard]] typename Backend::worker& worker() noexcept {
    if constexpr (on_several_threads)
      return static_cast<worker_slot&>(*worker_state::of_thread).worker;
    else
      return *worker_;
  }
  [[nodiscard]] Backend& base() noexcept { return *backend_; }
  [[nodiscard]] process& running() noexcept { return *here().running; }
  /// The process that runs on this thread; null if there is none.
  [[nodiscard]] process* running_here() noexcept { return worker_here().running; }

  // ---- putting

  [[gnu::always_inline]] void put(thunk&& t, put_reason why) noexcept {
    if constexpr (puts_in_place) {
      std::uint64_t const answer = t.answer();
      process* const p = t.release();  // in registers: the fast path needs no thunk in memory
      if (!worker().put_in_place(p, answer)) [[unlikely]]
        put_slow(p, answer, why);
    } else {
      put_any(std::move(t), why);
    }
  }
  [[gnu::noinline]] void put_slow(process* p, std::uint64_t answer, put_reason why) noexcept {
    put_any(thunk(p, answer), why);
  }
  [[gnu::always_inline]] void put_any(thunk&& t, put_reason why) noexcept {
    try {
      if constexpr (on_several_threads) {
        worker_state* const w = worker_state::of_thread;
        if (!w || w->home != this) return backend_->put(std::move(t), why);
      }
      worker().put(std::move(t), why);
    } catch (...) {
      retire_unput(t);
    }
  }
  /// Boxes the running process with its answer.  The thunk takes over the scheduler's count of the
  /// process.  The caller puts the thunk, and goes on to next().
  [[nodiscard]] thunk box(std::uint64_t answer = 0) noexcept {
    return thunk(here().running, answer);
  }
  void make_ready(thunk t) noexcept override {
    observer::on_wake(*this, *t.get());
    put(std::move(t), put_reason::woken);
  }
  void put_from_outside(thunk& t) override { backend_->put(std::move(t), put_reason::woken); }
  void put_from_outside(thunk& t, spare_node in) override {
    put_from_outside(t, put_reason::woken, std::move(in));
  }
  void put_from_outside(thunk& t, put_reason why, [[maybe_unused]] spare_node in) {
    observer::on_wake(*this, *t.get());
    if constexpr (reserving_backend<Backend>)
      backend_->put(std::move(t), why, std::move(in));
    else
      backend_->put(std::move(t), why);
  }
  [[nodiscard]] spare_node reserve_put() override {
    if constexpr (reserving_backend<Backend>)
      return backend_->reserve();
    else
      return {};
  }

  // ---- which process runs next

  [[gnu::always_inline]] std::coroutine_handle<> next() noexcept {
    if (taken_in_place const t = try_take(); t.next) [[likely]]
      return resume(t.next, t.answer);
    return next_any();
  }
  /// Takes the next process by the fast path.  Returns null, and takes none, if next_any() has to
  /// do it.
  [[nodiscard, gnu::always_inline]] taken_in_place try_take() noexcept {
    if constexpr (puts_in_place) {
      if (cancellation.needs_attention() || has_alarms()) [[unlikely]]
        return {};
      here().begin_step();
      return worker().take_in_place();
    } else {
      return {};
    }
  }
  [[gnu::noinline]] std::coroutine_handle<> next_any() noexcept {
    if (cancellation.needs_attention()) [[unlikely]]
      return next_slow();
    thunk t = take();
    if (!t) [[unlikely]]
      return stop_stepping(t.why_empty());
    std::uint64_t const answer = t.answer();
    return resume(t.release(), answer);
  }
  [[gnu::always_inline]] thunk take() noexcept {
    here().begin_step();
    if (has_alarms()) [[unlikely]]
      return take_in_time(*this);
    try {
      thunk t = worker().take(instant::max(), quiescence());
      if constexpr (on_several_threads)  // another thread may set an alarm during the take
        if (!t && t.why_empty() == thunk::reason::deadline) [[unlikely]]
          return take_in_time(*this);
      return t;
    } catch (...) {
      here().broken = std::current_exception();
      return thunk::reason::stopped;
    }
  }
  [[gnu::always_inline]] std::coroutine_handle<> resume(process* p, std::uint64_t answer) noexcept {
    observer::on_step(*this, *p);
    if (observer::has_events(*this, *p)) return resume_slow(p, answer);
    // On several threads another process may fail during the take, and make `p` ready: so the check
    // for a cancellation that preceded the take is repeated.
    if (!p->resumes_plainly() || (on_several_threads && cancellation.needs_attention()))
        [[unlikely]]
      return resume_slow(p, answer);
    observer::on_resume(*this, *p, answer);
    here().running = p;
    return p->resume(answer);
  }
  /// Whether an alarm is set, so that a take must also check the clock.
  [[nodiscard]] bool has_alarms() const noexcept { return !waits.alarms.empty(); }
  /// The test whether nothing more is due from outside; always true if nothing can come from there.
  [[nodiscard]] quiescence_test quiescence() const noexcept {
    return observer::outside_may_come ? quiescence_outside() : quiescence_test();
  }
  /// The thread has no process to go on to: drive() returns.
  std::coroutine_handle<> stop_stepping(thunk::reason why) noexcept {
    here().stopped = why == thunk::reason::stopped;
    here().running = nullptr;
    return std::noop_coroutine();
  }

  [[gnu::noinline]] std::coroutine_handle<> next_slow() noexcept {
    while (!cancellation.is_last_step()) {
      thunk t = observer::take_while_cancelled(*this);
      if (!t) return stop_stepping(t.why_empty());
      std::uint64_t const answer = t.answer();
      observer::on_step(*this, *t.get());
      if (auto const frame = prepare(t.release(), answer)) return frame;
    }
    return stop_stepping(thunk::reason::quiescent);
  }
  [[gnu::noinline]] std::coroutine_handle<> resume_slow(process* p, std::uint64_t answer) noexcept {
    if (auto const frame = prepare(p, answer)) return frame;
    return next_slow();
  }
  /// Prepares a process for which resume() is not enough (resumes_plainly()): here a cancelled
  /// process finds `cancelled`.  Returns the frame to resume; null if the process has ended or was
  /// put back.
  std::coroutine_handle<> prepare(process* p, std::uint64_t answer) noexcept;
  /// Lets the running process, which is suspended at an operation, find `cancelled` there: the
  /// operation is not performed.
  [[nodiscard]] std::coroutine_handle<> refuse(process& p) noexcept {
    p.mark_cancellable();
    return resume_slow(&p, 0);
  }

  // ---- how a process ends
  continuation finished(process& p) noexcept override {
    worker_state& w = here();
    if (!p.ended_plainly() || is_limited() || observer::has_events(*this, p) ||
        !w.pool->gives_in_place(header.bytes + sizeof(process))) [[unlikely]]
      return finished_slow(p);
    on_end(p);
    p.destroy_plain(header, *w.pool);
    --w.alive;
    if (taken_in_place const t = try_take(); t.next) [[likely]]
      return resume(t.next, t.answer);
    w.running = nullptr;
    return next_any();
  }
  /// Ends a process for which the fast path of finished() is not enough: it has an error, a log,
  /// deferred events or a second reference to it, the number of processes is limited, or the pool
  /// has no room for its block.
  continuation finished_slow(process& p) noexcept;
  /// For a process that has ended, or is to end: adjusts the counts, drops the reference to it, and
  /// gives up its room.  `error`: its failure; null if there is none.
  [[gnu::always_inline]] void retire(process* p, std::exception_ptr error) noexcept {
    observer::on_retire(*this, *p);
    if (error) [[unlikely]]
      return retire_failed(p, std::move(error));
    on_end(*p);
    worker_state& w = worker_here();
    if (keeps_log(*p)) --w.repeatable;
    --w.alive;
    bool const gives_room = is_limited() && !p->id().is_internal();
    p->release();
    if (gives_room) [[unlikely]]
      give_room();
  }
  [[gnu::cold, gnu::noinline]] void retire_failed(process* p, std::exception_ptr error) noexcept {
    lost_process const lost(error);
    observer::on_failure(*this, *p, error);
    fail(p->id(), error);
    retire(p, nullptr);
  }
  /// Retires a process that the backend has not taken, because its put threw.
  [[gnu::cold, gnu::noinline]] void retire_unput(thunk& t) noexcept {
    if (t) return retire(t.release(), std::current_exception());
    --worker_here().alive;  // the backend has dropped the process, against its contract
    if (is_limited()) give_room();
    fail({}, std::current_exception());
  }

  // ---- calls that notify the backend
  void on_wait_begin(process& p) noexcept {
    p.note_sent(false);
    if constexpr (on_several_threads) worker().on_wait_begin(p);
  }
  void on_waiting(process& p, wait_kind what = wait_kind::other) noexcept {
    if constexpr (on_several_threads) worker().on_waiting(p, what);
  }
  void on_wait_cancelled(process& p) noexcept {
    if constexpr (on_several_threads) worker().on_wait_cancelled(p);
  }
  void on_end(process& p) noexcept {
    observer::on_event(*this, {.process = p.id(), .kind = trace_kind::end});
    if constexpr (requires { backend_->on_end(p); }) backend_->on_end(p);
  }

  // ---- virtual functions, implemented in other headers

  [[nodiscard]] process* new_uncounted_process(process_id id, first_frame first) override {
    return make_uncounted_process(*this, id, first);
  }
  void on_admitted(admission::ticket& t) noexcept override { start_admitted(*this, t); }
  void run_internal(internal_task what) noexcept override { do_internal(*this, what); }
  std::coroutine_handle<> end_diverged(std::coroutine_handle<> leaf, site const& at) override {
    return end_diverged_process(*this, leaf, at);
  }
  std::coroutine_handle<> wait_for_remainder(end_of_clause& at) noexcept override {
    return running_here() ? wait_for_dropped_remainder(*this, at) : nullptr;
  }
  [[nodiscard]] thunk begin_task(any_task& t, process_id id) noexcept override {
    return promote_task(*this, t, id);
  }
  void cancel(task_group& g) noexcept override { cancel_group(*this, g); }
  void on_group_end(task_group& g) noexcept override { note_group_end(*this, g); }
  continuation task_dropped(task& t) noexcept override { return drop_task(*this, t); }
  void task_unwinds(task& t, suspension& s) noexcept override { unwind_task(*this, t, s); }
  void task_not_begun(task& t) noexcept override { count_ended(*this, t.its_join()); }
  void start(task_record& r) override { start_task(*this, r); }
  continuation task_ended(task_record& r) noexcept override { return end_task(*this, r); }
  continuation task_dropped(task_record& r) noexcept override { return drop_task(*this, r); }
  void task_unwinds(task_record& r, suspension& s) noexcept override { unwind_task(*this, r, s); }
  void task_not_begun(task_record& r) noexcept override { settle_record(*this, r); }
  void on_last_reference(task_record& r) noexcept override { release_record(*this, r); }
  void scope_unwinds(scope_core& c, suspension& s) noexcept override { unwind_scope(*this, c, s); }
  void count_canceller() noexcept override { ++here().alive; }
  [[nodiscard]] bool runs_owner(scope_core const& c) noexcept override { return runs(*this, c); }
  [[nodiscard]] bool has_cancelled(continuation c) const noexcept override {
    return cancellation.includes(c);
  }

  // ---- from the start to the end, for scheduler.hpp

  /// Adds the evidence for an effect to the table of effects.  This function and those below are
  /// compiled once for each backend (scheduler_members.hpp).
  void learn(identity<yielding>);
  void learn(identity<proc>);
  void learn(identity<syncing>);
  void learn(identity<completions>);
  void learn(identity<timing>);
  void learn(identity<mail>);
  void learn(identity<routing>);
  void learn(identity<spawning<>>);
  void learn(identity<tasking<>>);
  /// The evidence for spawning<> or tasking<>, to which spawning<...> and tasking<...> with any row
  /// delegate (delegating_evidence.hpp).
  known_effect const& general(identity<spawning<>>);
  known_effect const& general(identity<tasking<>>);
  void start(start_options how, class program* first, bool forkable);
  void run();
  bool step();
  poll_result poll(std::size_t most);
  void end() noexcept;

  // ---- state

  std::optional<Backend> backend_;                  // end() destroys it, and the processes in it
  std::optional<typename Backend::worker> worker_;  // the only worker, if there is one thread
  bool is_dropping_ = false;                        // no process runs any more; frames are unwound
  std::atomic<std::uint64_t> limits_made_ = 0;  // how many cancellers were made (scope_limit.hpp)
  std::size_t log_limit_ = 0;
  std::stop_token stop_token_;
  instant virtual_now_{};
  bool was_asked_to_stop_ = false;
  class program* first_ = nullptr;       // the program, if the first process keeps no log
  known_effect spawning_{}, tasking_{};  // spawning<> and tasking<>; null until they are learnt
  result_slot<void> unread_answer_;  // stands in for the slot of an answer when a process is begun
};

}  // namespace weft::detail
