// SPDX-License-Identifier: MIT
#pragma once

#include "weft/effects/detail/mistakes.hpp"  // first: compilers list the way to a message

/// All of effects/.
#include "weft/effects/async_stack.hpp"
#include "weft/effects/awaits_to.hpp"
#include "weft/effects/choose.hpp"
#include "weft/effects/clauses.hpp"
#include "weft/effects/console.hpp"
#include "weft/effects/describe.hpp"
#include "weft/effects/each.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/emit.hpp"
#include "weft/effects/errors.hpp"
#include "weft/effects/failure.hpp"
#include "weft/effects/for_each.hpp"
#include "weft/effects/handle.hpp"
#include "weft/effects/multi_resumption.hpp"
#include "weft/effects/multi_shot.hpp"
#include "weft/effects/operation.hpp"
#include "weft/effects/outer.hpp"
#include "weft/effects/proc.hpp"
#include "weft/effects/reader.hpp"
#include "weft/effects/region.hpp"
#include "weft/effects/resumption.hpp"
#include "weft/effects/row.hpp"
#include "weft/effects/run.hpp"
#include "weft/effects/state.hpp"
#include "weft/effects/synchronized.hpp"
#include "weft/effects/tagged.hpp"
#include "weft/effects/version.hpp"
