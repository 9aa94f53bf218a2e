// SPDX-License-Identifier: MIT
// state and reader: a variable and a value of the environment, and where their handlers keep them.
#include <iostream>

#include <weft/effects/effects.hpp>
using namespace weft;

eff<int, state<int>, reader<int>> add_and_double() {
  int const step = co_await reader<int>::ask{};
  co_await modify<int>([step](int n) { return n + step; });
  int const n = co_await state<int>::get{};
  co_await state<int>::put{2 * n};
  co_return n;
}

int main() {
  state_of<int> own(1);  // named, so its value can be read afterwards
  run(handle(own | reader_of(10), add_and_double()));
  std::cout << "state_of: " << own.value() << '\n';

  int variable = 2;
  run(handle(state_in(variable) | reader_of(10), add_and_double()));
  std::cout << "state_in: " << variable << '\n';

  auto const [result, last] = run(handle(state_returned(3) | reader_of(10), add_and_double()));
  std::cout << "state_returned: " << result << ", then " << last << '\n';
}
