// SPDX-License-Identifier: MIT

/// Mistake: a clause that answers with another type

#include <string>

#include <weft/effects/effects.hpp>

using namespace weft;

struct question {
  struct [[nodiscard]] ask : op<int> {};
  using operations = op_list<ask>;
};

struct replies : handler<question> {
  std::string on(question::ask) { return "forty-two"; }
};
eff<int, question> asks() { co_return co_await question::ask{}; }
int main() { return run(handle(replies(), asks)); }
