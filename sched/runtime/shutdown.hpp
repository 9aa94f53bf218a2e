// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "sched/base/process_id.hpp"

namespace weft {

/// How a scheduler was shut down (scheduler::shut_down).
struct shutdown_report {
  /// A process that had to be unwound where it was.
  struct unwound {
    process_id process;
    std::string what;  ///< The operation, and where it was performed.
  };
  /// Whether all had ended by the deadline, and nobody is left.
  bool in_time = true;
  /// Those that had not ended by then, or would not listen: in the order in which they went.  One
  /// that has ended by itself after the deadline is not among them.
  std::vector<unwound> left;
};

}  // namespace weft
