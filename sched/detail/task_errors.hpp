// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "sched/detail/task.hpp"
#include "sched/errors.hpp"

namespace weft::detail {

/// What went wrong in tasks: nothing is lost of it, unless it is only that others were to end.
class task_errors {
 public:
  void add(process_id who, std::exception_ptr error) {
    if (!error || std::ranges::find(all_, error, &exceptions::failure::error) != all_.end()) return;
    all_.push_back({who, std::move(error)});
  }
  void add(process_id who, any_task const& t, std::exception_ptr error) {
    if (t.came_to() == any_task::fate::not_done) error = std::make_exception_ptr(cancelled());
    if (t.came_to() == any_task::fate::no_memory) error = std::make_exception_ptr(std::bad_alloc());
    add(who, std::move(error));
  }
  void add(task const& t, std::exception_ptr error) { add(t.id(), t, std::move(error)); }
  void drop_cancelled() {
    std::erase_if(all_, [](auto const& f) { return is_cancelled(f.error); });
  }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  /// Does nothing if there is none.
  void throw_them() {
    if (all_.empty()) return;
    auto const is_other = [](auto const& f) { return !is_cancelled(f.error); };
    if (std::ranges::any_of(all_, is_other))
      std::erase_if(all_, [&](auto const& f) { return !is_other(f); });
    else
      all_.resize(1);
    if (all_.size() == 1) std::rethrow_exception(std::move(all_.front().error));
    throw exceptions(std::move(all_));
  }

 private:
  std::vector<exceptions::failure> all_;
};

}  // namespace weft::detail
