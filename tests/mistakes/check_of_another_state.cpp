// SPDX-License-Identifier: MIT

/// Mistake: a check of `explore` that takes another type than the state

#include <weft/effects/effects.hpp>
#include <weft/testing/testing.hpp>

using namespace weft;

struct world {
  int n = 0;
};
struct result {
  int n = 0;
};
eff<void, proc> program(world& w) {
  co_await proc::yield{};
  ++w.n;
}
int main() {
  explore([] { return world(); }, program, [](result& r) { return r.n == 1; });
}
