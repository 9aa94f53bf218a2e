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

/// What a process finds, at its next scheduler operation or where it waits, when another has failed
/// or the scheduler is stopped: it is to unwind.  And what schedule throws when it was stopped.
/// One that catches it and goes on finds it again; after a hundred times it is unwound where it is.
/// Of one that was shut down what() says why, if there was a reason.  A copy costs a count.
struct cancelled : std::exception {
  cancelled() = default;
  /// What it says.
  explicit cancelled(std::shared_ptr<std::string const> text) noexcept : text_(std::move(text)) {}
  /// The same, of a literal.
  explicit cancelled(char const* literal) noexcept : literal_(literal) {}

  [[nodiscard]] char const* what() const noexcept override {
    return text_ ? text_->c_str() : literal_;
  }

 private:
  std::shared_ptr<std::string const> text_;
  char const* literal_ = "weft: cancelled, since another process failed, or somebody asked to stop";
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

/// Submitting to a scheduler that is over, or is being shut down.
struct scheduler_stopped : std::runtime_error {
  scheduler_stopped()
      : runtime_error("weft: submit: the scheduler is over, or was told to shut down") {}
};

/// Starting one process more than `.max_processes`, where `.when_full` says that this fails.
struct too_many_processes : std::runtime_error {
  /// `what`: the operation, where and by whom it was performed.
  too_many_processes(std::string const& what, std::size_t most)
      : runtime_error("weft: " + what + ": there are as many processes as .max_processes allows, " +
                      std::to_string(most)) {}
};

/// Nobody is left who could send: the inbox is empty, and its last address has gone.  A receiver
/// that is cancelled finds `cancelled` instead.  On several threads a receiver whose last sender is
/// just being unwound by an exception may find this first: a failure cancels the others when its
/// process has ended.
struct no_senders : std::exception {
  [[nodiscard]] char const* what() const noexcept override {
    return "weft: nothing is left to receive, and nobody is left who could send";
  }
};

/// Several processes failed.
struct exceptions : std::runtime_error {
  struct failure {
    process_id process;
    std::exception_ptr error;
  };
  explicit exceptions(std::vector<failure> f)
      : runtime_error("weft: " + std::to_string(f.size()) + " processes failed, the first is " +
                      f.front().process.text()),
        all(std::move(f)) {}

  std::vector<failure> all;  ///< In the order in which they failed.
};

/// Processes are left, all of them wait, and nobody is there to wake them.
struct deadlock : std::runtime_error {
  /// Who has it, a mutex, and the place where it was locked.
  struct holder {
    process_id process;
    std::string since;
  };
  struct waiter {
    process_id process;
    std::string what;  ///< The operation, and where it was performed.
    std::optional<holder> held_by;
    std::string reason{};  ///< What it waits for there, where the operation does not say it.

    /// All of it: "weft::syncing::wait at a.cpp:7, held by process 1.2 since a.cpp:5"
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
    std::string s = "weft: deadlock: everyone waits, and nobody is left to wake them";
    for (auto const& w : all) s += "\n  process " + w.process.text() + " in " + w.text();
    return s;
  }
};

}  // namespace weft
