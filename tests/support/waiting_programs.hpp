// SPDX-License-Identifier: MIT
#pragma once

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

/// Programs whose processes wait for one another.
namespace weft::tests {

using children = spawning<proc, syncing>;
using program = eff<void, children, proc, syncing>;
/// A process that spawns none.
using step = eff<void, proc, syncing>;

}  // namespace weft::tests
