// SPDX-License-Identifier: MIT
// A clause that performs outward, and an operation that skips the nearest handler.
#include <iostream>

#include <weft/effects/effects.hpp>
using namespace weft;

struct doubling {
  int on(state<int>::get, outer<state<int>> up) const { return 2 * up(state<int>::get{}); }
  void on(state<int>::put p, outer<state<int>> up) const { up(state<int>::put{p.value / 2}); }
};

eff<void, state<int>> body() {
  int const near = co_await state<int>::get{};
  int const far = co_await outer_of<state<int>>(state<int>::get{});
  std::cout << near << " is twice " << far << '\n';
}
eff<void, state<int>> doubled() { co_await handle<state<int>>(doubling(), body()); }

int main() {
  run(handle(state_of(21), doubled()));
  try {
    run(handle(state_of(21), body()));
  } catch (no_outer_handler const&) {
    std::cout << "there is no second handler of state<int> further out\n";
  }
}
