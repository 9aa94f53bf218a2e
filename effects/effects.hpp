// SPDX-License-Identifier: MIT
#pragma once

/// All of effects/.
#include "effects/console.hpp"
#include "effects/eff.hpp"
#include "effects/operation.hpp"
#include "effects/proc.hpp"
#include "effects/resumption.hpp"
#include "effects/row.hpp"
