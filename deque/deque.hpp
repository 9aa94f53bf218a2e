// SPDX-License-Identifier: MIT
#pragma once

/// All of deque/.
#include "deque/persistent_deque.hpp"
#include "deque/policy.hpp"
