// SPDX-License-Identifier: MIT
#pragma once

#include "weft/effects/operation.hpp"

namespace weft {

/// A row: the set of effects that a computation may perform.
///
///     using processes = row<proc, console>;   // a name for a row
///     eff<void, processes, state<int>> f();   // rows may be nested
///
/// Neither order nor repetition matters.
template <class... Effects>
struct row {};

}  // namespace weft
