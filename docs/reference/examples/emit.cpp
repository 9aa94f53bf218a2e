// SPDX-License-Identifier: MIT
// emit: values pushed into a handler, collected, or pulled as a range by each.
#include <iostream>
#include <ranges>
#include <vector>

#include <weft/effects/effects.hpp>
using namespace weft;

eff<void, emit<int>> squares(int n) {
  for (int i = 1; i <= n; ++i) co_await emit<int>::value{i * i};
}

int main() {
  int sum = 0;
  run(handle<emit<int>>(clauses{[&sum](emit<int>::value v) { sum += v.it; }}, squares(4)));
  std::cout << "pushed: " << sum << '\n';

  std::vector<int> const all = run(handle(emit_to_vector<int>(), squares(4)));
  std::cout << "collected: " << all.size() << '\n';

  emitted<int> const range = each(squares, 1000);
  for (int const n : range | std::views::take(3)) std::cout << "pulled: " << n << '\n';

  emitted<int> few = each(squares, 1);
  emitted<int>::iterator i = few.begin();
  ++i;
  std::cout << std::boolalpha << (i == few.end()) << '\n';
  try {
    std::cout << *i;
  } catch (nothing_emitted const& e) {
    std::cout << e.what() << '\n';
  }
}
