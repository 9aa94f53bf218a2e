// SPDX-License-Identifier: MIT

/// Files that go on from frame to frame differently do not link: the symbol of a function that
/// returns an eff says how.

#include <catch2/catch.hpp>

#include "effects/effects.hpp"

weft::eff<void> a_computation();
weft::resumption<int, int> a_resumption();

// The same two functions, by the symbols that they must have.
#if defined(__clang__)
extern "C" void a_computation_by_symbol() asm("_Z13a_computationB9symmetricv");
extern "C" void a_resumption_by_symbol() asm("_Z12a_resumptionB9symmetricv");
#elif defined(WEFT_SYMMETRIC)
extern "C" void a_computation_by_symbol() asm("_Z13a_computationB13symmetric_gnuv");
extern "C" void a_resumption_by_symbol() asm("_Z12a_resumptionB13symmetric_gnuv");
#else
extern "C" void a_computation_by_symbol() asm("_Z13a_computationB8bouncingv");
extern "C" void a_resumption_by_symbol() asm("_Z12a_resumptionB8bouncingv");
#endif

weft::eff<void> a_computation() { co_return; }
weft::resumption<int, int> a_resumption() { return {}; }

TEST_CASE("a function that returns an eff or a resumption says in its symbol how frames go on") {
  CHECK(reinterpret_cast<void*>(&a_computation) ==
        reinterpret_cast<void*>(&a_computation_by_symbol));
  CHECK(reinterpret_cast<void*>(&a_resumption) == reinterpret_cast<void*>(&a_resumption_by_symbol));
}
