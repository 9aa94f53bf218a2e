// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/program.hpp"
#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/runtime/detail/incoming/admission.hpp"
#include "weft/sched/runtime/detail/incoming/submission_gate.hpp"

namespace weft::detail {

/// The action of an internal process: a small process of the library's own, by which another thread
/// has an action performed on a thread of the scheduler (SUBMIT-4).
enum class internal_task : std::uint8_t {
  stop,       ///< Cancels all processes: a stop was requested.
  shut_down,  ///< Cancels all processes: the scheduler is shut down.
  dump,       ///< Describes the processes that wait, for a thread in dump().
  ask_again   ///< Does nothing.  The worker that runs it then tests again whether anything is due.
};

/// The interface of a scheduler to its submissions.
class submission_host : public ready_sink {
 public:
  [[nodiscard]] virtual process* new_uncounted_process(process_id id, first_frame first) = 0;
  /// Performs the action of an internal process.  Called by that process, on a thread of the
  /// scheduler, or when none of these threads runs.
  virtual void run_internal(internal_task what) noexcept = 0;

 protected:
  ~submission_host() = default;
};

/// Processes that come from outside: submitted ones, and internal ones.
class submissions {
 public:
  /// `is_open`: whether processes may come from outside at all; false where schedules are explored.
  submissions(submission_host& host, admission const& room, bool is_open);
  submissions(submissions const&) = delete;
  submissions& operator=(submissions const&) = delete;
  ~submissions() = default;

  /// The gate; null where schedules are explored.
  [[nodiscard]] std::shared_ptr<submission_gate> const& gate() const noexcept { return gate_; }
  void require_gate() const;
  /// Counts one more submitter.  Throws scheduler_stopped if the gate is closed, std::logic_error
  /// if there is no gate, bad_alloc.
  [[nodiscard]] std::shared_ptr<submission_gate> add_submitter();
  /// Sends an internal process, so that a worker asks again whether something is due (SUBMIT-3).
  /// Called under the gate's lock when the last submitter is destroyed.
  void on_last_submitter_gone() noexcept;
  /// Closes the gate: from now on no process comes from outside.
  void close() noexcept {
    if (gate_) gate_->close();
  }
  /// The number of processes that came from outside.  A hint while processes come.
  [[nodiscard]] std::int64_t started() const noexcept { return gate_ ? gate_->started() : 0; }
  /// Whether a process may still come.  If not, all processes that were under way have been put.
  [[nodiscard]] bool may_come() const noexcept;
  /// Called when no process is ready or waits: ends the run, which then accepts no internal process
  /// any more (SUBMIT-4).  False if the run is not over.
  [[nodiscard]] bool end_run(bool something_may_come) noexcept;
  /// Closes the gate, and waits for the tickets under way: after that no process comes.  Called
  /// when the scheduler ends.
  void end() noexcept;

  // ---- internal processes (SUBMIT-4)

  /// An internal process that can be sent without allocating.  If it is never sent, it does
  /// nothing.
  class prepared {
   public:
    prepared() = default;
    prepared(submissions& s, internal_task what);
    prepared(prepared&&) noexcept = default;
    prepared& operator=(prepared other) noexcept;
    ~prepared() {
      if (process_) home_->count_internal(true);  // dropping process_ counts it down again
    }
    [[nodiscard]] bool is_there() const noexcept { return bool(process_); }

   private:
    friend class submissions;
    submissions* home_ = nullptr;
    spare_node spare_;
    thunk process_ = thunk::reason::quiescent;
  };
  /// Makes an internal process, to be sent later.  Called under the gate's lock, as is send().
  /// Throws bad_alloc.
  [[nodiscard]] prepared prepare(internal_task what) { return {*this, what}; }
  /// Puts the internal process, if the run still accepts it (SUBMIT-4).  Throws only if the backend
  /// is no reserving_backend and its put throws; then nothing was sent.
  void send(prepared& p);
  /// Whether `p` is an internal process that has not begun: such a process runs even if all
  /// processes are cancelled.
  [[nodiscard]] static bool is_new_internal(process const& p) noexcept {
    return !p.has_started() && p.id().is_internal();
  }

 private:
  class counted;
  static eff<void> runs(counted of, internal_task what);
  [[nodiscard]] thunk make_internal(internal_task what);
  void count_internal(bool more) noexcept;
  [[nodiscard]] bool keeps_run_open() const noexcept {
    return gate_->submitters != 0 && !gate_->is_closed() && !room_.is_shut_to_outside();
  }

  submission_host& host_;
  admission const& room_;
  std::shared_ptr<submission_gate> const gate_;
  std::uint64_t internal_made_ = 0;  // under the gate's mutex
  prepared ask_again_;               // under the gate's mutex; not empty while a submitter exists
};

}  // namespace weft::detail
