// SPDX-License-Identifier: MIT
#include "weft/sched/tasks/detail/task_errors.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>
#include <vector>

namespace weft::detail {

void task_errors::add(process_id id, std::exception_ptr error) {
  if (!error || std::ranges::find(all_, error, &exceptions::failure::error) != all_.end()) return;
  bool const is_of_cancelled = is_cancelled(error);
  if (is_of_cancelled && has_cancelled_) return;
  all_.push_back({id, std::move(error)});
  has_cancelled_ |= is_of_cancelled;
}
void task_errors::add(process_id id, any_task const& t, std::exception_ptr error) {
  if (t.fate_of_run() == any_task::fate::not_done) error = std::make_exception_ptr(cancelled());
  if (t.fate_of_run() == any_task::fate::no_memory)
    error = std::make_exception_ptr(std::bad_alloc());
  add(id, std::move(error));
}
void task_errors::add(task const& t, std::exception_ptr error) { add(t.id(), t, std::move(error)); }
void task_errors::drop_cancelled() {
  if (std::exchange(has_cancelled_, false))
    std::erase_if(all_, [](auto const& f) { return is_cancelled(f.error); });
}
std::exception_ptr task_errors::take() {
  if (all_.size() > 1) drop_cancelled();
  if (all_.empty()) return nullptr;
  if (all_.size() == 1) return std::move(all_.front().error);
  return std::make_exception_ptr(exceptions(std::move(all_)));
}
void task_errors::throw_them() {
  if (auto const error = take()) std::rethrow_exception(error);
}

}  // namespace weft::detail
