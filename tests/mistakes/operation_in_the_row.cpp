// SPDX-License-Identifier: MIT

/// Mistake: an operation in the row in place of its effect

#include <weft/effects/effects.hpp>

using namespace weft;

struct question {
  struct [[nodiscard]] ask : op<int> {};
  using operations = op_list<ask>;
};

struct replies : handler<question> {
  int on(question::ask) { return 42; }
};
eff<int, question::ask> asks() { co_return co_await question::ask{}; }
int main() { return run(handle(replies(), asks)); }
