// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Object files with different transfers between frames do not link, since the symbol of a function
/// that returns an eff names the transfer, and the version.

weft::eff<void> a_computation();
weft::resumption<int, int> a_resumption();

// The same two functions, by their expected symbols.
#if defined(WEFT_HEADER_ONLY)
extern "C" void a_computation_by_symbol() asm("_Z13a_computationB11header_onlyB14v0_1_symmetricv");
extern "C" void a_resumption_by_symbol() asm("_Z12a_resumptionB11header_onlyB14v0_1_symmetricv");
#elif defined(__clang__)
extern "C" void a_computation_by_symbol() asm("_Z13a_computationB14v0_1_symmetricv");
extern "C" void a_resumption_by_symbol() asm("_Z12a_resumptionB14v0_1_symmetricv");
#elif defined(WEFT_SYMMETRIC)
extern "C" void a_computation_by_symbol() asm("_Z13a_computationB18v0_1_symmetric_gnuv");
extern "C" void a_resumption_by_symbol() asm("_Z12a_resumptionB18v0_1_symmetric_gnuv");
#else
extern "C" void a_computation_by_symbol() asm("_Z13a_computationB13v0_1_bouncingv");
extern "C" void a_resumption_by_symbol() asm("_Z12a_resumptionB13v0_1_bouncingv");
#endif

weft::eff<void> a_computation() { co_return; }
weft::resumption<int, int> a_resumption() { return {}; }

TEST_CASE(
    "a function that returns an eff or a resumption has the transfer between frames and the "
    "version in its symbol") {
  CHECK(reinterpret_cast<void*>(&a_computation) ==
        reinterpret_cast<void*>(&a_computation_by_symbol));
  CHECK(reinterpret_cast<void*>(&a_resumption) == reinterpret_cast<void*>(&a_resumption_by_symbol));
}
