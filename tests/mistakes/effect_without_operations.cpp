// SPDX-License-Identifier: MIT

/// Mistake: an effect without `using operations`

#include <weft/effects/effects.hpp>

using namespace weft;

struct question {
  struct [[nodiscard]] ask : op<int> {};
};
struct replies : handler<question> {
  int on(question::ask) { return 42; }
};
eff<int, question> asks() { co_return co_await question::ask{}; }
int main() { return run(handle(replies(), asks)); }
