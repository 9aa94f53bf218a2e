// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <vector>

#include "weft/sched/base/errors.hpp"

namespace weft::detail {

/// The exceptions with which processes of a scheduler have ended.  Thread safe: add().
class failure_log {
 public:
  /// Adds a failure.  If there is no memory for it, it is kept in `only_`, provided that the log is
  /// empty or holds nothing but a `cancelled` that was kept there.
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
  exceptions::failure only_;              // the first one, if all_ had no memory for it
};

}  // namespace weft::detail
