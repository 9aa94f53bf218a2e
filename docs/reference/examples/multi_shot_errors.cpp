// SPDX-License-Identifier: MIT
// What cannot be resumed twice, and the exception that says so.
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <weft/effects/effects.hpp>
using namespace weft;

struct coin {
  struct [[nodiscard]] flip : op<bool> {};
  struct [[nodiscard]] sell : op<int, seals> {};  // cannot be repeated
  struct [[nodiscard]] rest : op<bool> {};
  using operations = op_list<flip, sell, rest>;
};
struct both : handler<coin> {
  eff<int> on(coin::flip, multi_resumption<bool, int> k) const {
    int const a = co_await k(true);
    int const b = co_await k(false);
    co_return a + b;
  }
  int on(coin::sell) const { return 1; }
  bool on(coin::rest) const { return false; }
};
struct keeps_all : region {
  std::vector<multi_resumption<bool, int>> all;
  int on(coin::flip, multi_resumption<bool, int> k) { return all.push_back(std::move(k)), 0; }
  int on(coin::sell) const { return 1; }
  resumption<bool, int> once;
  int on(coin::rest, resumption<bool, int> k) { return once = std::move(k), 0; }
};

int runs = 0;  // state outside of effects: the second run finds another value
eff<int, coin> impure() {
  int const before = ++runs;
  bool const b = co_await coin::flip{};
  co_return before + b;
}
eff<int, coin> changes_its_mind() {
  if (++runs % 2 == 0) co_return co_await coin::sell{};
  co_return co_await coin::flip{};
}
eff<int, coin> sells() {
  int const n = co_await coin::sell{};
  co_return n + co_await coin::flip{};
}
eff<int, coin> owns(std::string text) { co_return text.empty() + co_await coin::flip{}; }
eff<int, coin> flips_and_rests() {
  bool const a = co_await coin::flip{};
  co_return a + co_await coin::rest{};
}

template <class Error>
void expect(char const* name, auto misuse) {
  try {
    misuse();
  } catch (Error const&) {
    std::cout << name << '\n';
  }
}

int main() {
  expect<unforkable>("unforkable", [] { run(handle(both(), sells)); });
  expect<replay_divergence>("replay_divergence", [] { run(handle(both(), changes_its_mind)); });
  expect<outcomes_differ>("outcomes_differ", [] { run(handle(both(), impure, compared())); });
  expect<uncopyable>("uncopyable",
                     [] { run(handle(both(), [] { return owns("text"); }, bitwise())); });
  keeps_all h;
  run(handle<coin>(h, flips_and_rests, bitwise()));
  resume(h.all[0], true);
  expect<frames_in_use>("frames_in_use", [&h] { resume(h.all[0], false); });
}
