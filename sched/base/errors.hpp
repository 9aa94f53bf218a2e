// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/sched/base/process_id.hpp"

namespace [[gnu::visibility("default")]] weft {

/// Thrown in a process that must unwind: another process has failed, the scheduler is stopped, or
/// the tasks to which the process belongs are cancelled.  The operation at which the process waits
/// throws it, or its next operation that may wait or ends its step (to yield, sleep, send, receive,
/// lock, acquire, exit).  Operations that are answered at once (spawn, touch, timing::now, those of
/// handlers outside the scheduler) throw it only now and then.  If the process catches `cancelled`
/// and goes on, the next such operation throws it again.  After a hundred times the process is
/// unwound up to the scope that was cancelled, and the code around that scope goes on with
/// `cancelled`; if all processes are cancelled, the whole process is unwound.
///
/// schedule() throws `cancelled`, too, if it was stopped.  After a shutdown what() gives the
/// reason, if there was one.  Copying it increments a reference count.
struct cancelled : std::exception {
  cancelled() = default;
  /// `text` is what what() returns.
  explicit cancelled(std::shared_ptr<std::string const> text) noexcept : text_(std::move(text)) {}
  /// `literal`, a string literal, is what what() returns.
  explicit cancelled(char const* literal) noexcept : literal_(literal) {}

  [[nodiscard]] char const* what() const noexcept override;

 private:
  std::shared_ptr<std::string const> text_;
  char const* literal_ = "weft: cancelled, because another process failed, or a stop was requested";
};

/// Thrown by a scope whose own deadline has passed, and only by that scope: a scope further in, or
/// a process that a scope further out has cancelled, finds a plain `cancelled`.  So a loop that
/// tries again what has timed out catches `timed_out`, and ends when it is cancelled itself.
struct timed_out : cancelled {
  timed_out() noexcept
      : cancelled("weft: cancelled, because the deadline of the scope has passed") {}
};
namespace detail {
[[nodiscard]] bool is_cancelled(std::exception_ptr const& error) noexcept;
}  // namespace detail

/// Thrown by a submission to a scheduler whose run is over, or that is being shut down.
struct scheduler_stopped : std::runtime_error {
  scheduler_stopped();
};

/// Thrown by an operation that would start one process more than `.max_processes`, if `.when_full`
/// says that it fails.
struct too_many_processes : std::runtime_error {
  /// `what`: the operation, with the place and the process that performed it.
  too_many_processes(std::string const& what, std::size_t most);
};

/// Thrown in a receiver: the inbox is empty, and its last address is destroyed, so no process can
/// send any more.  A receiver that is cancelled finds `cancelled` instead.  On several threads, if
/// the last sender fails, the receiver may find `no_senders` before it is cancelled: a failure
/// cancels the other processes only when the process that failed has been unwound.
struct no_senders : std::exception {
  [[nodiscard]] char const* what() const noexcept override;
};

/// Thrown by a run, such as schedule(), if several processes failed.  what() names each of the
/// first sixteen, with the text of its exception.  A copy is O(n) in the failures; allocates the
/// list; throws bad_alloc.
struct exceptions : std::runtime_error {
  /// One of the failures.
  struct failure {
    process_id process;        ///< The process that failed.
    std::exception_ptr error;  ///< The exception that ended the process.
  };
  explicit exceptions(std::vector<failure> f);

  std::vector<failure> all;  ///< The failures, in the order in which they came.
};

/// Thrown by a run, such as schedule(), if processes are left, all of them wait, and none can be
/// woken any more.  A copy is O(n) in the waiters; allocates the list; throws bad_alloc.
struct deadlock : std::runtime_error {
  /// The process that holds a mutex, and the place where it locked the mutex.
  struct holder {
    process_id process;  ///< The process that holds the mutex.
    std::string since;   ///< The place where the process locked the mutex: "a.cpp:5".
  };
  /// One of the processes that wait.
  struct waiter {
    process_id process;  ///< The process that waits.
    std::string what;    ///< The operation, and where it was performed.
    /// The holder of the mutex that the process waits for; empty if the process waits for something
    /// else, or no process holds the mutex.
    std::optional<holder> held_by;
    std::string reason{};  ///< The thing that the process waits for, if `what` does not name it.
    /// The function that the process runs, as std::source_location::function_name() spells it; or
    /// the name that named() gives it.  Empty if it is not known.
    std::string_view function{};

    /// The text of `what`, `held_by` and `reason`: "weft::syncing::wait at a.cpp:7, held by process
    /// 1.2 since a.cpp:5".  Allocates the text.
    [[nodiscard]] std::string text() const;
  };
  explicit deadlock(std::vector<waiter> w);

  std::vector<waiter> all;  ///< The processes that wait, in the order of ids.
};

}  // namespace weft
