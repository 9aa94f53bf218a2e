// SPDX-License-Identifier: MIT
#pragma once

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

/// Programs whose processes print, wait and spawn.
namespace weft::tests {

using children = spawning<proc, console, syncing>;
using program = eff<void, children, proc, console, syncing>;

}  // namespace weft::tests
