// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "weft/sched/base/errors.hpp"

namespace weft::detail {

class wait_registry;

/// Returns the waiting processes, each once, in the order of their ids, with the object that each
/// waits for.  Called when no process runs.
[[nodiscard]] std::vector<deadlock::waiter> waiters_of(wait_registry& waits);

}  // namespace weft::detail
