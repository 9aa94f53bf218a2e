// SPDX-License-Identifier: MIT
#pragma once

/// Schedulers for tests.
#include "sched/backends/random_order.hpp"
#include "sched/base/decision.hpp"
#include "testing/explore.hpp"
#include "testing/random_walk.hpp"
