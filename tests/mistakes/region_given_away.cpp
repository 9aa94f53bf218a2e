// SPDX-License-Identifier: MIT

/// Mistake: a handler that keeps resumptions, and is a temporary

#include <utility>
#include <vector>

#include <weft/effects/effects.hpp>

using namespace weft;

struct question {
  struct [[nodiscard]] ask : op<int> {};
  using operations = op_list<ask>;
};

struct promised : handler<question>, region {
  std::vector<resumption<int>> waiting;
  void on(question::ask, resumption<int> k) { waiting.push_back(std::move(k)); }
};
eff<void, question> asks() { (void)co_await question::ask{}; }
int main() { run(handle(promised(), asks)); }
