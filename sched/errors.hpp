// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sched/process_id.hpp"

namespace weft {

/// What a process finds, at its next scheduler operation or where it waits, when another has failed
/// or the scheduler is stopped: it is to unwind.  And what schedule throws when it was stopped.
/// One that catches it and goes on finds it again; after a hundred times it is unwound where it is.
struct cancelled : std::exception {
  [[nodiscard]] char const* what() const noexcept override {
    return "weft: cancelled, since another process failed, or somebody asked to stop";
  }
};

/// Nobody is left who could send: the inbox is empty, and its last address has gone.
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
  };
  explicit deadlock(std::vector<waiter> w) : runtime_error(text(w)), all(std::move(w)) {}

  std::vector<waiter> all;

 private:
  static std::string text(std::vector<waiter> const& all) {
    std::string s = "weft: deadlock: everyone waits, and nobody is left to wake them";
    for (auto const& w : all) {
      s += "\n  process " + w.process.text() + " in " + w.what;
      if (w.held_by)
        s += ", held by process " + w.held_by->process.text() + " since " + w.held_by->since;
    }
    return s;
  }
};

}  // namespace weft
