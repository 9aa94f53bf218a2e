// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/forkable_process.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/program.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/runtime/detail/ending/cancellation_state.hpp"
#include "weft/sched/runtime/detail/incoming/submissions.hpp"
#include "weft/sched/runtime/detail/outer/effect_table.hpp"
#include "weft/sched/runtime/detail/reports/failure_log.hpp"
#include "weft/sched/runtime/detail/wait_registry.hpp"
#include "weft/sched/runtime/shutdown.hpp"

namespace weft::detail {

class expirable_evidence;  // interposed.hpp

struct start_options {  // fields of schedule_options (scheduler.hpp)
  std::size_t log_limit;
  std::stop_token stop;
  bool virtual_time;
  std::size_t max_processes;
  overflow_policy when_full;
};

/// The parts of a scheduler that do not depend on its backend, and the actions that need several of
/// them: failing, cancelling, looking up evidence, counting processes.  backend_scheduler.hpp runs
/// the processes.
///
/// Almost all members are public: only algorithms of the library see a scheduler_core.
class scheduler_core : public scheduler_prompt, public submission_host {
 public:
  cancellation_state cancellation;
  wait_registry waits;
  failure_log failures;
  effect_table effects;
  submissions incoming;
  worker_state own{*this};  // the state of the only worker; or the sums of the counts of several
  bool has_virtual_time = false;
  bool was_started = false;

  /// `outside_may_come`: whether processes may be submitted.
  scheduler_core(bool several_threads, unsigned wakes, bool outside_may_come);
  ~scheduler_core() override;

  /// A number that no other scheduler has, including those that no longer exist.
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }
  /// The worker state of this thread; `own`, if the thread is no worker of this scheduler.
  [[nodiscard]] worker_state& worker_here() noexcept {
    worker_state* const w = worker_state::of_thread;
    return w && w->home == this ? *w : own;
  }
  /// The number of processes; a hint while some come from outside.
  [[nodiscard]] std::size_t alive() const noexcept {
    std::int64_t const n = own.alive + incoming.started();
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  /// Adds the counts of a worker, which has nothing more to run, to the sums.
  void add_counts(worker_state& w) noexcept;

  // ---- evidence

  /// Evidence for a row of effects that are all known, for a process that `w` starts.  Throws
  /// bad_alloc.
  void* evidence_for(row_info const& row, bool recorded, worker_state& w) {
    worker_state::row_cache& last = w.last_row[recorded];
    if (last.row != &row) [[unlikely]]
      last = {&row, effects.look_up(row, recorded)};
    return last.evidence;
  }
  /// The log of the running process; a log that is over if the process keeps none.
  [[nodiscard]] replay_log& log_of_running() noexcept {
    worker_state& w = worker_here();
    return w.running && w.running->is_forkable() ? static_cast<forkable_process&>(*w.running).log()
                                                 : w.no_log;
  }
  /// Takes over the evidence, which ends with this scheduler.
  void keep_evidence(expirable_evidence& e) noexcept;
  /// Keeps the prompt of a handler outside the scheduler, to which processes may perform.
  void keep_outer(prompt& p);
  /// Marks the prompts of the outer handlers as shared by threads, and all prompts further out.
  /// Called before several threads run processes, which may perform to these handlers.
  void share_outers();
  /// Ends the running process, which performs another operation than in its first run.  Throws if
  /// ordinary code stands between the operation and the process: such code cannot be ended, so the
  /// error is thrown again when the process ends.
  virtual std::coroutine_handle<> end_diverged(std::coroutine_handle<> leaf, site const& at) = 0;

  // ---- failing and cancelling

  /// Records the error with which a process has ended, and cancels all others; does nothing if the
  /// error is `cancelled` and all processes are cancelled already.
  void fail(process_id id, std::exception_ptr error) noexcept;
  /// Cancels all processes: each finds `cancelled` at its next operation.  Waits for alarms and
  /// external events are cancelled now; the other waits by waits.cancel_all().
  void cancel_all() noexcept;
  /// Closes the gate, and turns away threads that wait: no process comes from outside any more.
  void close_outside() noexcept;
  /// Called when no process is ready and some wait.  Reports a deadlock, unless all processes are
  /// cancelled already; and cancels the waits.
  void report_deadlock();
  /// Sets the failures to those of a checkpoint.  If there are failures, all processes are
  /// cancelled; if not, none is.
  void set_failures(std::vector<exceptions::failure> f) noexcept;
  /// Throws the failures of processes, if there are any.
  void throw_failures();
  [[nodiscard]] std::string first_waiter_text();
  /// The exception that a process finds if all processes are cancelled.
  [[nodiscard]] cancelled why_all_cancelled() const noexcept;
  /// The exception that a process finds if a group of tasks around it is cancelled.
  [[nodiscard]] static cancelled why_group_cancelled() noexcept {
    return cancelled("weft: cancelled, because the tasks that wait for this are cancelled");
  }
  /// How many cancellations a process may ignore before it is unwound where it is.
  [[nodiscard]] unsigned patience() const noexcept {
    // Relaxed: a worker that sees the deadline late only reports `cancelled` once more.
    return shutdown.is_late.load(std::memory_order_relaxed) ? 0 : 100;
  }

  /// The test whether nothing more is due from outside.  Thread safe.
  [[nodiscard]] quiescence_test quiescence_outside() const noexcept {
    return {&is_quiescent_outside, this};
  }

  // ---- room for processes (admission.hpp)

  [[nodiscard]] bool is_limited() const noexcept { return waits.room.is_limited(); }
  /// Takes room for one more process.  If there is none: false if the process must wait for room;
  /// else throws too_many_processes.
  [[nodiscard]] bool take_room(site const& at) {
    note_access(&waits.room, true);
    if (waits.room.try_enter()) return true;
    if (waits.room.waits_when_full()) return false;
    throw_too_many(at.text());
  }
  [[noreturn, gnu::cold]] void throw_too_many(std::string const& what);
  /// Gives up the room of a process that has ended or could not begin, and admits tickets that
  /// wait.
  void give_room() noexcept;
  /// Admits processes that wait although there is room.  Returns whether there were any.
  bool admit_waiting() noexcept { return is_limited() && admit_from(waits.room.next()); }
  /// Makes the owner of the ticket, and the process that the owner has made, ready.
  virtual void on_admitted(admission::ticket& t) noexcept = 0;

  // ---- running (running.hpp), shutting down (shutting_down.hpp)

  /// The work for which an at_work object exists.  After `polling`, internal processes are still
  /// accepted: between two calls of poll(), they call the loop back.
  enum class work : std::uint8_t { one_step, polling, all, nothing };
  /// Exists while processes of this scheduler may run on this thread.
  class at_work;
  /// Listens to the stop token from one poll() to the next.  A stop_listener (running.hpp), or
  /// null.
  std::shared_ptr<void> poll_stops;
  /// When an alarm is due next; nullopt if none is, or if time is virtual.
  [[nodiscard]] std::optional<instant> next_deadline() const noexcept {
    if (has_virtual_time || waits.alarms.empty()) return std::nullopt;
    return waits.alarms.next();
  }
  /// Whether a process may be running, starting or being unwound.
  [[nodiscard]] bool is_at_work() const noexcept { return is_at_work_; }
  /// The state of this scheduler's worker on this thread; null if the thread does not work for it.
  [[nodiscard]] worker_state const* find_worker_here() const noexcept;
  void set_ending() noexcept { is_at_work_ = true; }

  struct shutdown_state {
    std::atomic<bool> is_on = false;
    std::atomic<bool> is_late = false;  // the deadline has passed
    // Under the mutex of the submission gate:
    std::shared_ptr<std::string const> reason;
    shutdown_report report;
  };
  shutdown_state shutdown;

  /// Descriptions that threads outside wait for (dumping.hpp).  Under the mutex of the submission
  /// gate.
  struct dump_state {
    std::string text;
    std::uint64_t asked = 0;
    std::uint64_t given = 0;
  };
  dump_state dumps;

  // ---- overrides of prompt

  // A frame ends at its process, not at this prompt.
  continuation ended() noexcept override { std::terminate(); }  // never called
  [[nodiscard]] std::string_view const& handler_name() const noexcept override {
    static constexpr std::string_view name = "weft::scheduler";
    return name;
  }
  [[nodiscard]] std::source_location installed_at() const noexcept override { return {}; }
  void visit_outers(prompt_visitor f) const override {
    for (prompt* const p : outers_) f(*p);
  }
  void end_evidence() noexcept override;
  using prompt::finish;
  using prompt::set_innermost;

 private:
  /// Admits ticket `t`, and as many more as there is room for.
  bool admit_from(admission::ticket* t) noexcept;
  void end_cancelling() noexcept;
  /// The test of quiescence_outside(), for the scheduler at `core`.
  [[nodiscard]] static bool is_quiescent_outside(void const* core);
  static std::uint64_t next_serial() noexcept;
  // Visible, so that a program has one copy of each variable even if a library hides its symbols.
  [[gnu::visibility(
      "default")]] static inline constinit std::atomic<std::uint64_t> blocks_of_serials_ = 0;
  [[gnu::visibility("default")]] static inline thread_local constinit std::uint64_t next_serial_ =
      0;

  std::uint64_t const serial_ = next_serial();
  std::vector<prompt*> outers_;
  expirable_evidence* evidence_ = nullptr;  // the list of evidence that is kept
  bool is_at_work_ = false;
  std::atomic<std::thread::id> worker_thread_{};  // the thread that runs this scheduler, or none
  std::mutex sums_mutex_;
};

class scheduler_core::at_work {
 public:
  at_work(scheduler_core& s, work w) noexcept;
  at_work(at_work const&) = delete;
  at_work& operator=(at_work const&) = delete;
  ~at_work();

 private:
  scheduler_core& home_;
  std::shared_ptr<submission_gate> gate_;  // accessed last: the gate may outlive the scheduler
  work what_;
};

}  // namespace weft::detail
