// SPDX-License-Identifier: MIT
#include <iostream>
#include <string>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/testing/testing.hpp>

/// Two processes add to a number, and one update may be lost.
weft::eff<void, weft::proc> add_one(int& n) {
  int const seen = n;
  co_await weft::proc::yield{};
  n = seen + 1;
}

int main() {
  auto const found = weft::explore([] { return 0; },
                                   [](int& n) -> weft::eff<void, weft::proc> {
                                     co_await weft::proc::fork{};
                                     co_await add_one(n);
                                   },
                                   [](int const& n) { return std::to_string(n); });
  for (auto const& o : found.outcomes) std::cout << o.result.text << '\n';
}
