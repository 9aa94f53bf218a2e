// SPDX-License-Identifier: MIT
#pragma once

/// The headers that most of these programs include, as a precompiled header.
#include "effects/effects.hpp"
#include "sched/schedule.hpp"
