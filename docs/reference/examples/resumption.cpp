// SPDX-License-Identifier: MIT
// A continuation as a value: kept in a region, described, resumed with a value or an exception, dropped.
#include <exception>
#include <iostream>
#include <stdexcept>
#include <utility>
#include <vector>

#include <weft/effects/effects.hpp>
using namespace weft;

struct question {
  struct [[nodiscard]] ask : op<int> {};
  using operations = op_list<ask>;
};

struct waiting : region {  // keeps resumptions, so it is a region, and is borrowed
  std::vector<resumption<int>> all;
  void on(question::ask, resumption<int> k) { all.push_back(std::move(k)); }
};

eff<void, question> body() {
  try {
    int const n = co_await question::ask{};
    std::cout << "got " << n << '\n';
  } catch (std::runtime_error const& e) {
    std::cout << "caught " << e.what() << '\n';
  }
}

int main() {
  waiting w;
  for (int i = 0; i != 3; ++i) run(handle<question>(w, body()));
  std::cout << describe(w.all.front(), 1).substr(0, 13) << '\n';
  std::cout << w.suspended().substr(0, 42) << '\n';
  resume(std::move(w.all[0]), 42);
  resume(std::move(w.all[1]), raising{std::make_exception_ptr(std::runtime_error("no answer"))});
  try {
    resume(std::move(w.all[0]), 43);
  } catch (resumption_empty const& e) {
    std::cout << e.what() << '\n';
  }
  w.allow_dropping();
  raising const r(std::make_exception_ptr(std::runtime_error("x")));
  std::cout << bool(w.all[2]) << bool(r.error) << '\n';  // the third is dropped with the region
}
