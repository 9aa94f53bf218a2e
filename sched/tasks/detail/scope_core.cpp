// SPDX-License-Identifier: MIT
#include "weft/sched/tasks/detail/scope_core.hpp"

#include <cstdio>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "weft/sched/base/errors.hpp"

namespace weft::detail {

std::string scope_core::text() const { return "a scope"; }

void scope_core::add_error(process_id id, std::exception_ptr error) noexcept {
  std::lock_guard const lock(mutex);
  try {
    errors.add(id, std::move(error));
  } catch (...) {
    has_lost_an_error = true;
  }
}
void scope_core::note_left_undone(process_id id) noexcept {
  {
    std::lock_guard const lock(mutex);
    if (!errors.empty()) return;
  }
  add_error(id, std::make_exception_ptr(weft::cancelled()));
}
void scope_core::add_error_of(task_record const& r) noexcept {
  if (r.error()) add_error(r.id(), r.error());
  if (r.fate_of_run() == any_task::fate::no_memory)
    add_error(r.id(), std::make_exception_ptr(std::bad_alloc()));
}
void scope_core::throw_errors(std::exception_ptr of_body) {
  task_errors all = std::move(errors);
  if (expects_cancelled || has_lost_an_error) all.drop_cancelled();
  // The lost error may be the reason why the body was cancelled.
  if (has_lost_an_error && of_body && weft::detail::is_cancelled(of_body)) of_body = nullptr;
  all.add(owner_id, std::move(of_body));
  all.throw_them();
  if (has_lost_an_error) throw std::bad_alloc();
}
void scope_core::end_of_the_program() noexcept {
  std::fputs(
      "weft: a scope ended while tasks were open in it, as its end could not be reached by "
      "its process\n",
      stderr);
  std::terminate();
}

}  // namespace weft::detail
