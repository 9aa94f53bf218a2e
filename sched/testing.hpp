// SPDX-License-Identifier: MIT
#pragma once

/// Schedulers for tests.
#include "sched/decision.hpp"
#include "sched/explore.hpp"
#include "sched/random_order.hpp"
#include "sched/random_walk.hpp"
