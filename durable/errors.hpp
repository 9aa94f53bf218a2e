// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace weft::durable {

/// Thrown by a step that has failed for good: its function has thrown as often as the options
/// allow.  A process that runs again from its log gets the same exception.
struct [[gnu::visibility("default")]] step_failed : std::runtime_error {
  step_failed(std::string const& step, unsigned attempts, std::string const& why);
  std::string step;       ///< The name of the step.
  unsigned attempts = 0;  ///< How often its function was called.
  std::string why;        ///< The text of the last exception.
};

/// Thrown by a step that is to run at most once, and may have run before a crash: its answer is not
/// known.
struct [[gnu::visibility("default")]] step_interrupted : std::runtime_error {
  explicit step_interrupted(std::string const& step);
};

/// Thrown where the result of a process, such as a child, is wanted, and the process has none: it
/// has failed, say, or was cancelled.
struct [[gnu::visibility("default")]] child_failed : std::runtime_error {
  child_failed(std::string const& id, std::string const& why);
  std::string id;  ///< The id of the process.
};

/// Thrown in a process whose function no longer fits the log from which it runs again.  what() says
/// what the log has and what the code does, with both versions.  The process is quarantined; only
/// code in it that catches all exceptions sees this one.
struct [[gnu::visibility("default")]] diverged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace weft::durable
