// SPDX-License-Identifier: MIT

/// Mistake: an operation that its effect does not list

#include <weft/effects/effects.hpp>

using namespace weft;

struct question {
  struct [[nodiscard]] ask : op<int> {};
  struct [[nodiscard]] insist : op<int> {};
  using operations = op_list<ask>;
};
struct replies : handler<question> {
  int on(question::ask) { return 42; }
};
eff<int, question> insists() { co_return co_await question::insist{}; }
int main() { return run(handle(replies(), insists)); }
