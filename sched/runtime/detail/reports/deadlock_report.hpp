// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "weft/sched/base/errors.hpp"

namespace weft::detail {

class wait_registry;

/// Returns the waiting processes, each once, in the order of their ids: each with the operation at
/// which it waits, or with the owner of its gate, such as a mutex.  Called when no process runs.
[[nodiscard]] std::vector<deadlock::waiter> waiters_of(wait_registry& waits);

}  // namespace weft::detail
