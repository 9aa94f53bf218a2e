// SPDX-License-Identifier: MIT

/// Mistake: a clause that is private

#include <weft/effects/effects.hpp>

using namespace weft;

struct question {
  struct [[nodiscard]] ask : op<int> {};
  using operations = op_list<ask>;
};

class replies : handler<question> {
  int on(question::ask) { return 42; }
};
eff<int, question> asks() { co_return co_await question::ask{}; }
int main() { return run(handle<question>(replies(), asks)); }
