// SPDX-License-Identifier: MIT
#pragma once

/// All headers of deque/.
#include "weft/deque/chase_lev.hpp"
#include "weft/deque/persistent_deque.hpp"
#include "weft/deque/policy.hpp"
#include "weft/deque/steal_queue.hpp"
#include "weft/deque/taken.hpp"
