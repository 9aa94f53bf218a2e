// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>

#include "effects/effects.hpp"
#include "sched/schedule.hpp"
#include "sched/tasks/tasking.hpp"

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
