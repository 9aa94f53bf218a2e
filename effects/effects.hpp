// SPDX-License-Identifier: MIT
#pragma once

/// All of effects/.
#include "effects/choose.hpp"
#include "effects/clauses.hpp"
#include "effects/console.hpp"
#include "effects/describe.hpp"
#include "effects/eff.hpp"
#include "effects/errors.hpp"
#include "effects/for_each.hpp"
#include "effects/handle.hpp"
#include "effects/multi_resumption.hpp"
#include "effects/operation.hpp"
#include "effects/outer.hpp"
#include "effects/proc.hpp"
#include "effects/raise.hpp"
#include "effects/reader.hpp"
#include "effects/region.hpp"
#include "effects/resumption.hpp"
#include "effects/row.hpp"
#include "effects/run.hpp"
#include "effects/state.hpp"
#include "effects/tagged.hpp"
