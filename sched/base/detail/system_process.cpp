// SPDX-License-Identifier: MIT
#include "weft/sched/base/detail/system_process.hpp"

#include <stdexcept>
#include <string>

namespace weft::detail {

void system_process::throw_forked(char const* what) {
  throw std::logic_error("weft: " + std::string(what) +
                         " is used in a child of the process that made it, after fork(): make one "
                         "in the child");
}

}  // namespace weft::detail
