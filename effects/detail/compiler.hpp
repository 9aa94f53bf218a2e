// SPDX-License-Identifier: MIT
#pragma once

/// Warns users of a compiler that miscompiles coroutines.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13 && !defined(WEFT_SILENCE_GCC12)
// clang-format off
#pragma GCC warning "weft: g++ 12 miscompiles some coroutines: see docs/portability.md; define WEFT_SILENCE_GCC12 once you have read it"
// clang-format on
#endif
