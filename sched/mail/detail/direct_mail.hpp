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

/// What a send or a receive needs to know about its scheduler and its process, to be done without
/// both, where the process need not wait.
///
///   DIRECT-1  It is done so only if the scheduler that runs on this thread would answer the
///       operation at once, in the same way: the evidence is the scheduler's, so no handler and no
///       log stands in between; the port is the scheduler's; no cancellation needs attention; and
///       the step has not had its share of messages.  A scheduler that explores, or keeps a trace,
///       answers each operation itself.
///   DIRECT-2  An operation that would wake a process, or that has to wait, is left to the
///       scheduler.
struct direct_mail {
  mailbox_registry const* registry = nullptr;      // null: no operation is done directly
  worker_state* worker = nullptr;                  // of this thread
  std::atomic<unsigned> const* reasons = nullptr;  // not zero: a cancellation needs attention
  /// The scheduler's evidence for `mail`, once an operation has been performed by it; [1]: for
  /// processes that keep a log, or kept one.
  void const* evidence[2] = {};

  prompt const* scheduler = nullptr;  // the prompt under which its processes run

  /// Whether the process performs outside of all handlers but the scheduler.
  [[nodiscard]] bool is_outside_handlers() const noexcept {
    return prompt::innermost() == scheduler;
  }

  /// Of the scheduler that runs on this thread.
  [[gnu::visibility("default")]] static thread_local constinit direct_mail of_thread;

  /// Counts a message, if an operation that is performed by that evidence, with a port of that
  /// registry, may be done directly.  Then returns the process; else null.
  [[nodiscard, gnu::always_inline]] process* count(void const* by,
                                                   mailbox_registry const& r) const noexcept {
    if (&r != registry) return nullptr;
    worker_state& w = *worker;
    // relaxed: as in cancellation_state::needs_attention().
    if (reasons->load(std::memory_order_relaxed) != 0) [[unlikely]]
      return nullptr;
    if (by != evidence[0] && (by != evidence[1] || w.running->is_forkable())) [[unlikely]]
      return nullptr;
    return w.count_operation() ? w.running : nullptr;
  }
  /// Counts `n` messages beside the one that was counted.
  void count_more(std::size_t n) const noexcept { worker->count_operations(n); }
};
inline thread_local constinit direct_mail direct_mail::of_thread;

/// While it lives, operations are done directly on this thread.
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
