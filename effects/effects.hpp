// SPDX-License-Identifier: MIT
#pragma once

#include "weft/effects/detail/mistakes/mistakes.hpp"  // first: errors list the headers on the way

/// All headers of effects/ that programs include.
#include "weft/effects/async_stack.hpp"
#include "weft/effects/awaits_to.hpp"
#include "weft/effects/bitwise/bitwise.hpp"
#include "weft/effects/clauses.hpp"
#include "weft/effects/describe.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/errors.hpp"
#include "weft/effects/handle.hpp"
#include "weft/effects/multi_resumption.hpp"
#include "weft/effects/multi_shot.hpp"
#include "weft/effects/operation.hpp"
#include "weft/effects/outer.hpp"
#include "weft/effects/proc.hpp"
#include "weft/effects/ready/choose.hpp"
#include "weft/effects/ready/console.hpp"
#include "weft/effects/ready/each.hpp"
#include "weft/effects/ready/emit.hpp"
#include "weft/effects/ready/failure.hpp"
#include "weft/effects/ready/for_each.hpp"
#include "weft/effects/ready/reader.hpp"
#include "weft/effects/ready/state.hpp"
#include "weft/effects/region.hpp"
#include "weft/effects/resumption.hpp"
#include "weft/effects/row.hpp"
#include "weft/effects/run.hpp"
#include "weft/effects/synchronized.hpp"
#include "weft/effects/tagged.hpp"
#include "weft/effects/version.hpp"
