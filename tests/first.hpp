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

#include "effects/effects.hpp"
#include "sched/backends/random_order.hpp"
#include "sched/backends/sharing.hpp"
#include "sched/backends/stealing.hpp"
#include "sched/schedule.hpp"
#include "sched/sharing.hpp"
#include "sched/stealing.hpp"
#include "sched/testing.hpp"
