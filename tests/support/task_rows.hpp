// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/tasking.hpp"

/// For tests of tasks.
namespace weft::tests {

/// Tasks that perform nothing.
using pure = tasking<>;
/// Tasks that yield.
using yields = tasking<proc>;

/// An exception of a task.
struct wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace weft::tests
