// SPDX-License-Identifier: MIT

/// Mistake: `co_await` of an effect in place of an operation

#include <weft/effects/effects.hpp>

using namespace weft;

struct question {
  struct [[nodiscard]] ask : op<int> {};
  using operations = op_list<ask>;
};

struct replies : handler<question> {
  int on(question::ask) { return 42; }
};
eff<int, question> asks() { co_return co_await question{}; }
int main() { return run(handle(replies(), asks)); }
