// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "sched/base/detail/location_listener.hpp"
#include "sched/base/errors.hpp"

namespace weft::detail {

/// The exceptions with which processes of a scheduler have ended.  Thread safe: add().
class failure_log {
 public:
  /// Adds a failure.  If there is no memory for it, it is kept in `only_`, provided that the log is
  /// empty or holds nothing but a `cancelled` that was kept there.
  void add(exceptions::failure f) noexcept {
    note_access(this, true);
    std::lock_guard const lock(mutex_);
    try {
      all_.push_back(f);
    } catch (...) {
      bool const says_little = !only_.error || is_cancelled(only_.error);
      if (all_.empty() && says_little) only_ = std::move(f);
    }
  }
  // ---- when no process runs

  [[nodiscard]] std::vector<exceptions::failure> const& all() const noexcept { return all_; }
  void assign(std::vector<exceptions::failure> f) noexcept { all_ = std::move(f); }
  /// Throws the failure, or `exceptions` if there are several; returns if there is none.  The log
  /// is empty after that.
  void throw_all() {
    auto all = std::exchange(all_, {});
    if (only_.error) {
      if (all.empty()) std::rethrow_exception(std::exchange(only_.error, nullptr));
      all.insert(all.begin(), std::exchange(only_, {}));
    }
    if (all.size() == 1) std::rethrow_exception(std::move(all.front().error));
    if (all.size() > 1) throw exceptions(std::move(all));
  }

 private:
  std::mutex mutex_;
  std::vector<exceptions::failure> all_;  // under mutex_, while processes run
  exceptions::failure only_;              // the first one, if all_ had no memory for it
};

}  // namespace weft::detail
