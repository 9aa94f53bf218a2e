// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "sched/base/errors.hpp"
#include "sched/tasks/detail/task.hpp"

namespace weft::detail {

/// The errors of tasks.  None is lost, except that of all `cancelled` only the first is kept: a
/// scope of a million tasks that is cancelled has one.
class task_errors {
 public:
  /// Adds an error, unless it is null or kept already.  O(n) in the errors that are kept.
  void add(process_id id, std::exception_ptr error) {
    if (!error || std::ranges::find(all_, error, &exceptions::failure::error) != all_.end()) return;
    bool const is_of_cancelled = is_cancelled(error);
    if (is_of_cancelled && has_cancelled_) return;
    all_.push_back({id, std::move(error)});
    has_cancelled_ |= is_of_cancelled;
  }
  void add(process_id id, any_task const& t, std::exception_ptr error) {
    if (t.fate_of_run() == any_task::fate::not_done) error = std::make_exception_ptr(cancelled());
    if (t.fate_of_run() == any_task::fate::no_memory)
      error = std::make_exception_ptr(std::bad_alloc());
    add(id, std::move(error));
  }
  void add(task const& t, std::exception_ptr error) { add(t.id(), t, std::move(error)); }
  void drop_cancelled() {
    if (std::exchange(has_cancelled_, false))
      std::erase_if(all_, [](auto const& f) { return is_cancelled(f.error); });
  }
  /// The number of errors that are kept.
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  /// Throws the error, or `exceptions` if there are several; `cancelled` does not count beside
  /// another error.  Does nothing if there is none.
  void throw_them() {
    if (all_.empty()) return;
    if (all_.size() > 1) drop_cancelled();
    if (all_.size() == 1) std::rethrow_exception(std::move(all_.front().error));
    throw exceptions(std::move(all_));
  }

 private:
  std::vector<exceptions::failure> all_;
  bool has_cancelled_ = false;  // one of all_ is `cancelled`
};

}  // namespace weft::detail
