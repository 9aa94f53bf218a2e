// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a coroutine clause computes another type than the handler answers with
/// Naming: reporter
/// Naming: dice::roll

#include <string>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct reporter {
  weft::eff<std::string> on(dice::roll, weft::resumption<int, int> k) {
    int const score = co_await std::move(k)(6);
    co_return std::to_string(score);
  }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { return weft::run(weft::handle<dice>(reporter(), plays())); }
