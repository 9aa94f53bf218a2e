// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "weft/sched/base/detail/relax.hpp"
#include "weft/sched/base/errors.hpp"

namespace weft::detail {

class submissions;

/// The gate by which threads outside submit processes.  It outlives the scheduler, for threads that
/// come late.
///
///   SUBMIT-1  One word holds the number of tickets that were drawn, and whether the gate is
///       closed.  Drawing a ticket is one atomic step on it; a thread that finds the gate closed
///       has drawn none.
///   SUBMIT-2  A thread that has drawn a ticket puts its process, and then reports its arrival;
///       until it does so, the ticket is under way.  While the gate is open the thread has a
///       submitter, so the run goes on (SUBMIT-3).  Once the gate is closed, a worker that asks
///       whether something is due waits until all tickets have arrived; their threads need nothing
///       that the worker holds.  So each of these threads has put its process before the worker
///       looks for ready processes.
///   SUBMIT-3  As long as there is a submitter and the gate is open, something is due.  When the
///       last submitter is destroyed, an internal process is put in the same step under `mutex`.
///       So a worker that has found a submitter, and sleeps, runs that process, and asks again
///       whether something is due.
///   SUBMIT-4  Internal processes are small processes of the library's own, put from outside under
///       `mutex` while the run accepts them.  The run stops accepting them in one step under
///       `mutex`, when it finds none left, and no submitter.
///   SUBMIT-5  The gate is closed for good: when a process fails, when all processes are to end,
///       when the run is over, and when the scheduler ends, which then waits for the tickets under
///       way (SUBMIT-2).
class submission_gate {
 public:
  submission_gate() = default;
  submission_gate(submission_gate const&) = delete;
  submission_gate& operator=(submission_gate const&) = delete;

  /// Draws a ticket.  Returns its number, from 1; or 0 if the gate is closed.  Lock-free.
  [[nodiscard]] std::uint64_t draw() noexcept {
    // Relaxed: a hint, which turns away most threads that come too late, without a write.
    if (word_.load(std::memory_order_relaxed) & closed) return 0;
    // Relaxed: the word only decides whether the ticket or the close came first.  The data that a
    // thread reads while its ticket is under way was written before there was a submitter, and
    // stays until all tickets have arrived [1].
    std::uint64_t const before = word_.fetch_add(1, std::memory_order_relaxed);
    if ((before & closed) == 0) return before + 1;
    word_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: nothing was done
    return 0;
  }
  void arrive(bool has_started) noexcept {
    if (!has_started)
      not_started_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the release [1] follows
    // [1] release: pairs with [2]: a worker that finds all tickets arrived sees the puts.
    arrived_.fetch_add(1, std::memory_order_release);
  }
  void close() noexcept {
    // [3] release: pairs with [4]: a thread that finds the gate closed sees all that was written
    // before the close.
    word_.fetch_or(closed, std::memory_order_release);
  }
  [[nodiscard]] bool is_closed() const noexcept {
    return (word_.load(std::memory_order_acquire) & closed) != 0;  // [4] acquire: pairs with [3]
  }
  /// Waits until all tickets have arrived (SUBMIT-2).  Called when the gate is closed.
  void wait_for_pending_tickets() const noexcept {
    // [2] acquire: pairs with [1].  Relaxed, for the word: a thread that comes too late adds one to
    // the number of tickets and subtracts it again, so the loop ends.
    for (relax wait; (word_.load(std::memory_order_relaxed) & ~closed) !=
                     arrived_.load(std::memory_order_acquire);)
      wait();
  }
  /// The number of processes that were started through the gate, submitted and internal.  A hint
  /// while threads submit.
  [[nodiscard]] std::int64_t started() const noexcept {
    // Relaxed: exact only when no thread submits.
    return static_cast<std::int64_t>(arrived_.load(std::memory_order_relaxed)) -
           static_cast<std::int64_t>(not_started_.load(std::memory_order_relaxed)) +
           static_cast<std::int64_t>(internal_sent);
  }

  /// Counts one submitter less; after the last one, an internal process is put (SUBMIT-3).
  void leave() noexcept;

  // ---- for the scheduler, and for SUBMIT-3

  std::mutex mutex;
  std::condition_variable changed;  // notified when is_running becomes false
  // Under the mutex:
  submissions* home = nullptr;  // null when the scheduler has ended
  bool is_running = false;
  bool accepts_internal = false;  // whether internal processes may be put (SUBMIT-4)
  std::size_t submitters = 0;     // how many submitters exist (SUBMIT-3)
  std::uint64_t internal_sent = 0;
  // How many internal processes were sent and have not ended.  Counted up under the mutex, counted
  // down without it.
  std::atomic<std::size_t> internal_left = 0;

 private:
  static constexpr std::uint64_t closed = std::uint64_t{1} << 63;

  alignas(64) std::atomic<std::uint64_t> word_ = 0;  // SUBMIT-1: tickets drawn, and `closed`
  std::atomic<std::uint64_t> arrived_ = 0;           // SUBMIT-2: tickets that have arrived
  std::atomic<std::uint64_t> not_started_ = 0;  // tickets whose process could not be made or put
};

/// A ticket.  It is under way until it is destroyed.
class submission_ticket {
 public:
  /// Throws scheduler_stopped if the gate is closed.
  explicit submission_ticket(submission_gate& g) : gate_(g), number_(g.draw()) {
    if (number_ == 0) [[unlikely]]
      throw scheduler_stopped();
  }
  submission_ticket(submission_ticket const&) = delete;
  submission_ticket& operator=(submission_ticket const&) = delete;
  ~submission_ticket() { gate_.arrive(has_started_); }

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// Called when the process has been put.
  void mark_started() noexcept { has_started_ = true; }

 private:
  submission_gate& gate_;
  std::uint64_t number_;
  bool has_started_ = false;
};

}  // namespace weft::detail
