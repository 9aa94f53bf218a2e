// SPDX-License-Identifier: MIT
#pragma once

/// The umbrella header for tests: random_order, explore, random_walk, and decide for handlers.
#include "sched/backends/random_order.hpp"
#include "sched/base/decision.hpp"
#include "testing/explore.hpp"
#include "testing/random_walk.hpp"
