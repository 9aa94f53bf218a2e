// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the clause for this operation takes another type of resumption than resumption<result,
///   answer>: the operation's result, the handler's answer
/// Naming: loaded

#include <utility>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
using asking = weft::reader<int>;

struct loaded : weft::handler<dice> {
  weft::eff<int, asking> on(dice::roll, weft::resumption<int, int, asking> k) {
    co_return co_await std::move(k).under(6);
  }
};
weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { return weft::run(weft::handle(loaded() | weft::reader_of(1), plays())); }
