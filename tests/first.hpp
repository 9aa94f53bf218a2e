// SPDX-License-Identifier: MIT
#pragma once

/// What most tests include, parsed once (cc_test.bzl).
/// Nothing of tests/support: names that a test does not ask for might be its own.
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/backends/random_order.hpp"
#include "weft/sched/backends/sharing.hpp"
#include "weft/sched/backends/stealing.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"
#include "weft/sched/stealing.hpp"
#include "weft/sched/testing.hpp"
