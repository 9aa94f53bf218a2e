// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a coroutine clause takes the operation and its resumption by value: it goes on after the
///   call
/// Naming: dice::roll

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct loaded {
  weft::eff<int> on(dice::roll const&, weft::resumption<int, int> k) {
    co_return co_await std::move(k)(6);
  }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { return weft::run(weft::handle<dice>(loaded(), plays())); }
