// SPDX-License-Identifier: MIT
#pragma once

/// All headers of deque/.
#include "deque/chase_lev.hpp"
#include "deque/persistent_deque.hpp"
#include "deque/policy.hpp"
#include "deque/steal_queue.hpp"
#include "deque/taken.hpp"
