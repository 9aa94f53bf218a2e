// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <vector>

#include "weft/sched/base/errors.hpp"

namespace weft::detail {

/// The exceptions with which processes of a scheduler have ended.  Thread safe: add().
class failure_log {
 public:
  /// Adds a failure.  If there is no memory to add it, and the log is empty or holds only a
  /// `cancelled` in `only_`, stores it in `only_`.
  void add(exceptions::failure f) noexcept;
  // ---- when no process runs

  [[nodiscard]] std::vector<exceptions::failure> const& all() const noexcept { return all_; }
  void assign(std::vector<exceptions::failure> f) noexcept;
  /// Throws the failure, or `exceptions` if there are several; returns if there is none.  The log
  /// is empty after that.
  void throw_all();

 private:
  std::mutex mutex_;
  std::vector<exceptions::failure> all_;  // under mutex_, while processes run
  exceptions::failure only_;              // a failure for which all_ had no memory
};

}  // namespace weft::detail
