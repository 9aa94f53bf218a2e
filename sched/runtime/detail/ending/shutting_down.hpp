// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "weft/sched/base/backend.hpp"
#include "weft/sched/runtime/shutdown.hpp"

namespace weft {
class process;
}  // namespace weft

namespace weft::detail {

class scheduler_core;

/// Adds a process to the report, if the scheduler is being shut down.  Called before the process is
/// unwound where it is.
void report_left(scheduler_core& s, process const& p) noexcept;

/// Implements scheduler::shut_down(): closes the gate, sends an internal process that cancels all
/// others, and waits until the run is over.  At the deadline it sends a second one, so that the
/// processes that are left are unwound.
shutdown_report shut_down(scheduler_core& s, instant deadline, std::string const& reason);

}  // namespace weft::detail
