// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sched/base/process_id.hpp"

namespace [[gnu::visibility("default")]] weft {

/// Thrown in a process, at its next scheduler operation or where it waits, when another process has
/// failed, when the scheduler is stopped, or when the tasks to which the process belongs are
/// cancelled: the process must unwind.  If the process catches it and goes on, its next operation
/// throws it again; after a hundred times the process is unwound where it stands.  schedule()
/// throws it, too, if it was stopped.  After a shutdown what() gives the reason, if there was one.
/// Copying it increments a reference count.
struct cancelled : std::exception {
  cancelled() = default;
  /// `text` is what what() returns.
  explicit cancelled(std::shared_ptr<std::string const> text) noexcept : text_(std::move(text)) {}
  /// The same for a string literal.
  explicit cancelled(char const* literal) noexcept : literal_(literal) {}

  [[nodiscard]] char const* what() const noexcept override {
    return text_ ? text_->c_str() : literal_;
  }

 private:
  std::shared_ptr<std::string const> text_;
  char const* literal_ = "weft: cancelled, because another process failed, or a stop was requested";
};

namespace detail {
[[nodiscard]] inline bool is_cancelled(std::exception_ptr const& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (cancelled const&) {
    return true;
  } catch (...) {
    return false;
  }
}
}  // namespace detail

/// Thrown by a submission to a scheduler whose run is over, or that is being shut down.
struct scheduler_stopped : std::runtime_error {
  scheduler_stopped()
      : runtime_error("weft: submit: the scheduler has ended, or is shutting down") {}
};

/// Thrown by an operation that would start one process more than `.max_processes`, if `.when_full`
/// says that it fails.
struct too_many_processes : std::runtime_error {
  /// `what`: the operation, with the place and the process that performed it.
  too_many_processes(std::string const& what, std::size_t most)
      : runtime_error("weft: " + what + ": there are as many processes as .max_processes allows, " +
                      std::to_string(most)) {}
};

/// Thrown in a receiver: the inbox is empty, and its last address is destroyed, so no process can
/// send any more.  A receiver that is cancelled finds `cancelled` instead.  On several threads, if
/// the last sender fails, the receiver may find `no_senders` before it is cancelled: a failure
/// cancels the other processes only when the process that failed has been unwound.
struct no_senders : std::exception {
  [[nodiscard]] char const* what() const noexcept override {
    return "weft: no message is left to receive, and no sender is left";
  }
};

/// Thrown by a run, such as schedule(), if several processes failed.
struct exceptions : std::runtime_error {
  struct failure {
    process_id process;
    std::exception_ptr error;
  };
  explicit exceptions(std::vector<failure> f)
      : runtime_error("weft: " + std::to_string(f.size()) + " processes failed, the first is " +
                      f.front().process.text()),
        all(std::move(f)) {}

  std::vector<failure> all;  ///< In the order in which the processes failed.
};

/// Thrown by a run, such as schedule(), if processes are left, all of them wait, and none can be
/// woken any more.
struct deadlock : std::runtime_error {
  /// The process that holds the mutex, and the place where it locked it.
  struct holder {
    process_id process;
    std::string since;
  };
  struct waiter {
    process_id process;
    std::string what;  ///< The operation, and where it was performed.
    std::optional<holder> held_by;
    std::string reason{};  ///< What the process waits for, where the operation does not say it.

    /// All fields: "weft::syncing::wait at a.cpp:7, held by process 1.2 since a.cpp:5"
    [[nodiscard]] std::string text() const {
      std::string s = what;
      if (held_by) s += ", held by process " + held_by->process.text() + " since " + held_by->since;
      if (!reason.empty()) s += ", for " + reason;
      return s;
    }
  };
  explicit deadlock(std::vector<waiter> w) : runtime_error(text(w)), all(std::move(w)) {}

  std::vector<waiter> all;

 private:
  static std::string text(std::vector<waiter> const& all) {
    std::string s = "weft: deadlock: every process waits, and none is left to wake another";
    for (auto const& w : all) s += "\n  process " + w.process.text() + " in " + w.text();
    return s;
  }
};

}  // namespace weft
