// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "weft/sched/base/process_id.hpp"

namespace weft {

/// How a scheduler was shut down (scheduler::shut_down).
struct shutdown_report {
  /// A process that was unwound where it waited or performed.
  struct unwound {
    process_id process;  ///< Its id.
    std::string what;    ///< The operation, and where it was performed.
  };
  /// Whether all processes had ended by the deadline.
  bool in_time = true;
  /// The processes that were unwound because they had not ended by the deadline, or went on in
  /// spite of `cancelled`; in the order in which they were unwound.  A process that ended by itself
  /// after the deadline is not among them.
  std::vector<unwound> left;
};

}  // namespace weft
