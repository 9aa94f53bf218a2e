// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the handler rebinds an effect that is not in the row around handle: add it there, or
///   handle it
/// Naming: weft::row<weft::reader<int>

#include <utility>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
using asking = weft::reader<int>;

struct loaded : weft::handler<dice>, weft::rebinds<asking> {
  weft::eff<int> on(dice::roll, weft::resumption<int, int, asking> k) {
    co_return co_await std::move(k)(6);
  }
};
weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { return weft::run(weft::handle(loaded(), plays())); }
