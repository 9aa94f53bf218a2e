// SPDX-License-Identifier: MIT

/// Mistake: `resumption<int>` for `resumption<int, int>`, in a clause that keeps it

#include <utility>
#include <vector>

#include <weft/effects/effects.hpp>

using namespace weft;

struct question {
  struct [[nodiscard]] ask : op<int> {};
  using operations = op_list<ask>;
};

struct replies : handler<question>, region {
  std::vector<resumption<int>> waiting;
  void on(question::ask, resumption<int> k) { waiting.push_back(std::move(k)); }
};
eff<int, question> asks() { co_return co_await question::ask{}; }
int main() {
  replies r;
  return run(handle(r, asks));
}
