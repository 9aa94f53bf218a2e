// SPDX-License-Identifier: MIT
#pragma once

/// What most of these programs include, parsed once.
#include "effects/effects.hpp"
#include "sched/schedule.hpp"
