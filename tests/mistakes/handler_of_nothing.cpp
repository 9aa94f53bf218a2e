// SPDX-License-Identifier: MIT

/// Mistake: a handler that does not name its effect

#include <weft/effects/effects.hpp>

using namespace weft;

struct question {
  struct [[nodiscard]] ask : op<int> {};
  using operations = op_list<ask>;
};

struct replies {
  int on(question::ask) { return 42; }
};
eff<int, question> asks() { co_return co_await question::ask{}; }
int main() { return run(handle(replies(), asks)); }
