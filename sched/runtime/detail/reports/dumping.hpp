// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace weft::detail {

class scheduler_core;

/// Describes all processes (scheduler::dump).
[[nodiscard]] std::string dump(scheduler_core& s);
/// Describes all processes for the threads that wait in dump().  Called by an internal process.
void give_dump(scheduler_core& s) noexcept;

}  // namespace weft::detail
