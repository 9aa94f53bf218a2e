// SPDX-License-Identifier: MIT
// A handler made of lambdas, with a return clause.
#include <iostream>
#include <string>

#include <weft/effects/effects.hpp>
using namespace weft;

struct counter {
  struct [[nodiscard]] next : op<int> {};
  struct [[nodiscard]] reset : op<void> {};
  using operations = op_list<next, reset>;
};

eff<std::string, counter> three() {
  int const a = co_await counter::next{};
  int const b = co_await counter::next{};
  co_await counter::reset{};
  int const c = co_await counter::next{};
  co_return std::to_string(a) + std::to_string(b) + std::to_string(c);
}

int main() {
  int n = 0;
  std::string const text = run(
      handle<counter>(clauses{[&n](counter::next) { return ++n; }, [&n](counter::reset) { n = 0; },
                              returns{[](std::string s) { return "counted " + s; }}},
                      three()));
  std::cout << text << '\n';
}
