// SPDX-License-Identifier: MIT
#pragma once

/// What most tests include, parsed once for the configurations with a sanitizer (cc_test.bzl).
#include <catch2/catch.hpp>

#include "effects/effects.hpp"
#include "sched/schedule.hpp"
#include "sched/testing.hpp"
#include "tests/support/threads.hpp"
