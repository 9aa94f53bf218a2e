// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <vector>

#include "weft/sched/base/errors.hpp"
#include "weft/sched/tasks/detail/task.hpp"

namespace weft::detail {

/// The errors of tasks.  None is lost, except that of all `cancelled` only the first is kept: a
/// scope of a million tasks that is cancelled has one.
class task_errors {
 public:
  /// Adds an error, unless it is null or kept already.  O(n) in the errors that are kept.
  void add(process_id id, std::exception_ptr error);
  void add(process_id id, any_task const& t, std::exception_ptr error);
  void add(task const& t, std::exception_ptr error);
  void drop_cancelled();
  /// The number of errors that are kept.
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  [[nodiscard]] bool is_only_cancelled() const noexcept {
    return all_.size() == 1 && has_cancelled_;
  }
  /// Returns the error, or `exceptions` if there are several; `cancelled` does not count beside
  /// another error.  Null if there is none.
  [[nodiscard]] std::exception_ptr take();
  /// Throws the result of take(), if it is not null.
  void throw_them();

 private:
  std::vector<exceptions::failure> all_;
  bool has_cancelled_ = false;  // one of all_ is `cancelled`
};

}  // namespace weft::detail
