// SPDX-License-Identifier: MIT
#pragma once

/// What weft needs of a compiler.  A compiler that lacks something is refused in one sentence, and
/// before other errors: the include of a file that does not exist ends the compilation.  A compiler
/// that miscompiles coroutines gives a warning.
// clang-format off
#if __cplusplus < 202002L
#error "weft: C++20 is needed: compile with -std=c++20"
#include <the error above>
#elif !defined(__cpp_exceptions)
#error "weft: exceptions are needed: compile without -fno-exceptions"
#include <the error above>
#elif __SIZEOF_POINTER__ < 8
#error "weft: pointers of 64 bits are needed: compile without -m32"
#include <the error above>
#endif

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13 && !defined(WEFT_SILENCE_GCC12)
#pragma GCC warning "weft: g++ 12 miscompiles some coroutines: see docs/portability.md; define WEFT_SILENCE_GCC12 once you have read it"
#endif

// Attributes of clang that only make code faster: g++ does not know them, and is not to warn.
#if !defined(__clang__)
#pragma GCC diagnostic ignored_attributes "clang::trivial_abi,clang::preserve_most"
#endif
// clang-format on
