// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <utility>

#include "weft/effects/detail/compiler.hpp"
#include "weft/effects/detail/mistakes/compiled_alike.hpp"

/// How a coroutine passes control to the next.
///
/// clang makes a symmetric transfer a jump at every level of optimisation.  g++ 12 does so only
/// from -O2 on and never under sanitizers, and no macro tells which is the case.  So under g++,
/// each frame returns to a loop that resumes the next one.  Either way, calls, operations and
/// resumes take no native stack, however many follow one another.  A g++ build that always has -O2
/// and no sanitizer may define WEFT_SYMMETRIC for speed.
///
/// The two ways do not mix, so files built differently must not be linked together.  Every type
/// that programs pass around is in an inline namespace, whose ABI tag names the way.  The tag is
/// part of the symbol of every function that returns such a type, so mixing the ways is a linker
/// error.
///
/// Versions of weft do not mix either, so the tag has the version too (version.hpp).
///
/// weft.hpp, the form of weft with all functions inline, has a tag of its own (compiled_alike.hpp).
///
/// Small owners of frames are [[clang::trivial_abi]]: they are passed and returned in registers, so
/// that a caller's frame need not hold them (an eff call is a fifth faster).  g++ has no such
/// attribute; so files compiled by g++ have a tag of their own even with WEFT_SYMMETRIC.
namespace weft {

#if defined(WEFT_HEADER_ONLY)
inline namespace [[gnu::abi_tag("header_only")]] header_only {
#endif
#if defined(__clang__)
inline namespace [[gnu::abi_tag("v0_1_symmetric")]] v0_1_symmetric {
#elif defined(WEFT_SYMMETRIC)
inline namespace [[gnu::abi_tag("v0_1_symmetric_gnu")]] v0_1_symmetric_gnu {
#else
inline namespace [[gnu::abi_tag("v0_1_bouncing")]] v0_1_bouncing {
#endif

template <class T, class... Effects>
class eff;
template <class R, class A = void>
class resumption;
template <class R, class A = void>
class multi_resumption;

}  // namespace v0_1_symmetric, v0_1_symmetric_gnu or v0_1_bouncing
#if defined(WEFT_HEADER_ONLY)
}  // namespace header_only
#endif

namespace detail {

#if defined(__clang__) || defined(WEFT_SYMMETRIC)
inline namespace symmetric {

/// The result type of await_suspend(): the frame to run next.
using transfer = std::coroutine_handle<>;
inline transfer go_on(std::coroutine_handle<> next) noexcept { return next; }
/// Runs `first` and the frames after it, until one passes control to std::noop_coroutine().
inline void drive(std::coroutine_handle<> first) { first.resume(); }

#else
inline namespace bouncing {

using transfer = void;
[[gnu::visibility("default")]] inline thread_local constinit void* next_to_go = nullptr;
inline void go_on(std::coroutine_handle<> next) noexcept { next_to_go = next.address(); }
inline void drive(std::coroutine_handle<> first) {
  next_to_go = first.address();
  while (void* const next = std::exchange(next_to_go, nullptr))
    std::coroutine_handle<>::from_address(next).resume();
}

#endif
}  // namespace symmetric or bouncing
}  // namespace detail
}  // namespace weft
