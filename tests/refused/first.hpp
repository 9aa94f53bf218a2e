// SPDX-License-Identifier: MIT
#pragma once

/// The headers that most of these programs include, as a precompiled header.
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
