// SPDX-License-Identifier: MIT

/// Mistake: a resumption that is not moved

#include <weft/effects/effects.hpp>

using namespace weft;

struct question {
  struct [[nodiscard]] ask : op<int> {};
  using operations = op_list<ask>;
};

struct replies : handler<question> {
  eff<int> on(question::ask, resumption<int, int> k) { co_return co_await k(42); }
};
eff<int, question> asks() { co_return co_await question::ask{}; }
int main() { return run(handle(replies(), asks)); }
