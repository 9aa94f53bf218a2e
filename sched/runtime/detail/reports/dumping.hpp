// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace weft::detail {

class scheduler_core;

/// Describes the processes that wait, and the process that calls (scheduler::dump).
[[nodiscard]] std::string dump(scheduler_core& s);
/// Describes the processes that wait, for the threads in dump().  Called by an internal process.
void give_dump(scheduler_core& s) noexcept;

}  // namespace weft::detail
