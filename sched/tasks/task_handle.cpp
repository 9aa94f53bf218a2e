// SPDX-License-Identifier: MIT
#include "weft/sched/tasks/task_handle.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>

namespace weft::detail {

void throw_not_one_task(std::size_t n) {
  throw std::logic_error("weft: a handle of " + std::to_string(n) +
                         " tasks was awaited for the result of one: co_await h.all()");
}

}  // namespace weft::detail
