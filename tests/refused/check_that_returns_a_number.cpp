// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a check of explore returns whether the state is right: a bool; or the outcome's name, a
///   string, which is right; or both, a run_result; or nothing, and throws
/// Naming: int

#include "weft/effects/effects.hpp"
#include "weft/testing/testing.hpp"

weft::eff<void, weft::proc> program(int&) { co_await weft::proc::yield{}; }

int main() {
  weft::explore([] { return 0; }, program, [](int const& n) { return n; });
}
