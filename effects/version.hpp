// SPDX-License-Identifier: MIT
#pragma once

/// The version of weft, as macros, so that a program that compiles with several versions can test
/// them by #if.  weft offers no other macros.  All packages take their number from here
/// (packaging/).
#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0
/// The version as one number, larger for a later version: 0.1.0 is 100, and 1.2.3 is 10203.
#define WEFT_VERSION (WEFT_VERSION_MAJOR * 10000 + WEFT_VERSION_MINOR * 100 + WEFT_VERSION_PATCH)

namespace weft {

/// WEFT_VERSION, as a constant.
inline constexpr int version = WEFT_VERSION;

}  // namespace weft
