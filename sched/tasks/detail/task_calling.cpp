// SPDX-License-Identifier: MIT
#include "weft/sched/tasks/detail/task_calling.hpp"

#include "weft/sched/tasks/detail/task_errors.hpp"

namespace weft::detail {

void tasks_of_handle::throw_errors_slow() const {
  task_errors errors;
  for_each([&](task_record& r) { errors.add(r.id(), r, r.error()); });
  errors.throw_them();
}

}  // namespace weft::detail
