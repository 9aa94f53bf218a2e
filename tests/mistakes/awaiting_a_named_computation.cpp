// SPDX-License-Identifier: MIT

/// Mistake: a named computation without `std::move`

#include <weft/effects/effects.hpp>

using namespace weft;

eff<int> answer() { co_return 42; }
eff<int> asks() {
  auto later = answer();
  co_return co_await later;
}
int main() { return run(asks()); }
