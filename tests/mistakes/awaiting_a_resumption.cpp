// SPDX-License-Identifier: MIT

/// Mistake: `co_await k` for `co_await std::move(k)(v)`

#include <utility>

#include <weft/effects/effects.hpp>

using namespace weft;

struct question {
  struct [[nodiscard]] ask : op<int> {};
  using operations = op_list<ask>;
};

struct replies : handler<question> {
  eff<int> on(question::ask, resumption<int, int> k) { co_return co_await std::move(k); }
};
eff<int, question> asks() { co_return co_await question::ask{}; }
int main() { return run(handle(replies(), asks)); }
