// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a resumption is not awaited but resumed: co_await std::move(k)(v), or co_await k(v) if
///   it is a multi_resumption
/// Naming: resumption<int, int>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct loaded {
  weft::eff<int> on(dice::roll, weft::resumption<int, int> k) { co_return co_await std::move(k); }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { return weft::run(weft::handle<dice>(loaded(), plays())); }
