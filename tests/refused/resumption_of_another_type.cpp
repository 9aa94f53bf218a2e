// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the clause for this operation takes another type of resumption than resumption<result,
///   answer>: the operation's result, the handler's answer
/// Naming: loaded
/// Naming: dice::roll

#include <string>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
struct loaded {
  weft::outcome<int> on(dice::roll, weft::resumption<int, int> k) { return std::move(k).last(6); }
  std::string on_return(int n) { return std::to_string(n); }
};

weft::eff<int, dice> plays() { co_return co_await dice::roll{}; }

int main() { [[maybe_unused]] auto const s = weft::run(weft::handle<dice>(loaded(), plays())); }
