// SPDX-License-Identifier: MIT
// Misuse of computations, handlers and resumptions, and the exception that each throws.
#include <iostream>
#include <string>
#include <utility>

#include <weft/effects/effects.hpp>
using namespace weft;

struct question {
  struct [[nodiscard]] ask : op<int> {};
  struct [[nodiscard]] stop : op<never> {};
  using operations = op_list<ask, stop>;
};
eff<int, question> asks() { co_return co_await question::ask{}; }
eff<int, question> stops() { co_await question::stop{}; }
eff<int> plain() { co_return 1; }

struct keeps {  // not a region, although it keeps resumptions
  resumption<int, int> kept;
  int on(question::ask, resumption<int, int> k) { return kept = std::move(k), 0; }
  int on(question::stop, resumption<never, int>) { return 0; }
};
struct parks : keeps, region {};
struct passes {  // asks outward from a value clause
  int on(question::ask, outer<question> up) const { return up(question::ask{}); }
  void on(question::stop) const {}  // and returns for an operation that never returns
};
eff<int, question> inside() { co_return co_await handle<question>(passes(), asks()); }

template <class Error>
void expect(char const* name, auto misuse) {
  try {
    misuse();
  } catch (Error const&) {
    std::cout << name << '\n';
  }
}

int main() {
  auto once = plain();
  run(std::move(once));
  expect<eff_empty>("eff_empty", [&] { run(std::move(once)); });
  keeps k;
  expect<not_a_region>("not_a_region", [&] { run(handle<question>(k, asks())); });
  resumption<int, int> late;
  {
    parks p;
    run(handle<question>(p, asks()));
    late = std::move(p.kept);
  }
  expect<resumption_expired>("resumption_expired", [&] { resume(std::move(late), 1); });
  parks p;
  expect<needs_control>("needs_control", [&] { run(handle<question>(p, inside())); });
  expect<clause_returned>("clause_returned", [&] {
    run(handle<question>(clauses{[](question::ask) { return 1; }, [](question::stop) {}}, stops()));
  });
}
