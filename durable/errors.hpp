// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace weft::durable {

/// A step has failed for good: its function threw, as often as its options allow.  The same
/// exception is thrown when the process runs again.
struct [[gnu::visibility("default")]] step_failed : std::runtime_error {
  step_failed(std::string const& step, unsigned attempts, std::string const& why);
  std::string step;       ///< Its name.
  unsigned attempts = 0;  ///< How often its function was called.
  std::string why;        ///< What the last exception said.
};

/// A step that is to run at most once may have run before a crash: its answer is not known.
struct [[gnu::visibility("default")]] step_interrupted : std::runtime_error {
  explicit step_interrupted(std::string const& step);
};

/// A child has not returned a result: it has failed, or was cancelled.
struct [[gnu::visibility("default")]] child_failed : std::runtime_error {
  child_failed(std::string const& id, std::string const& why);
  std::string id;  ///< That of the child.
};

/// A function no longer fits the log that it is run against.  what() tells both sides, with both
/// versions.  Such a process is quarantined; the exception is seen only by code that catches all.
struct [[gnu::visibility("default")]] diverged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace weft::durable
