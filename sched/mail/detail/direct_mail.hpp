// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/base/process.hpp"

namespace weft::detail {

class mailbox_registry;

/// The facts about the scheduler of a thread that decide whether a process sends or receives
/// directly: without an operation, when the process need not wait.
///
///   DIRECT-1  A send or a receive is done directly only if the scheduler that runs on this thread
///       would answer the operation at once, with the same effect: the evidence is the scheduler's,
///       so no handler and no log stands in between; the port is the scheduler's; no cancellation
///       needs attention; and the step has not had its share of operations (worker_state.hpp).  A
///       scheduler that explores, or keeps a trace, answers each operation itself.
///   DIRECT-2  An operation that has to wait, or that would wake a receiver, is left to the
///       scheduler.  A receive that makes room puts the senders that wait for it.
struct direct_mail {
  mailbox_registry const* registry = nullptr;      // null: no operation is done directly
  worker_state* worker = nullptr;                  // the worker of this thread
  std::atomic<unsigned> const* reasons = nullptr;  // not zero: a cancellation needs attention
  /// The scheduler's evidence for `mail`, null until an attempt has answered an operation by it
  /// (confirm(), receive_clauses.hpp).  At index 0: for processes that have never kept a log; at
  /// index 1: for the others.
  void const* evidence[2] = {};

  prompt const* scheduler = nullptr;  // the prompt under which the scheduler's processes run

  /// Whether the running process is inside no handler but the scheduler.
  [[nodiscard]] bool is_outside_handlers() const noexcept {
    return prompt::innermost() == scheduler;
  }

  /// The facts about the scheduler that runs on this thread.
  [[gnu::visibility("default")]] static thread_local constinit direct_mail of_thread;

  /// If an operation that is performed by the evidence `by`, at a port of the registry `r`, may be
  /// done directly: counts a message, and returns the running process.  Else returns null.
  [[nodiscard, gnu::always_inline]] process* process_if_direct(
      void const* by, mailbox_registry const& r) const noexcept {
    if (&r != registry) return nullptr;
    worker_state& w = *worker;
    // relaxed: as in cancellation_state: a process may find a cancellation one operation late.
    if (reasons->load(std::memory_order_relaxed) != 0) [[unlikely]]
      return nullptr;
    if (by != evidence[0] && (by != evidence[1] || w.running->is_forkable())) [[unlikely]]
      return nullptr;
    return w.count_operation() ? w.running : nullptr;
  }
  /// Counts `n` messages more than the one that process_if_direct() has counted.
  void count_more(std::size_t n) const noexcept { worker->count_operations(n); }
};
inline thread_local constinit direct_mail direct_mail::of_thread;

/// While an object of this class lives, sends and receives may be done directly on this thread.
class direct_mail_here {
 public:
  explicit direct_mail_here(direct_mail const& m) noexcept
      : before_(std::exchange(direct_mail::of_thread, m)) {}
  direct_mail_here(direct_mail_here const&) = delete;
  direct_mail_here& operator=(direct_mail_here const&) = delete;
  ~direct_mail_here() { direct_mail::of_thread = before_; }

 private:
  direct_mail const before_;
};

}  // namespace weft::detail
