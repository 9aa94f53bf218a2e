// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a body that is resumed bitwise is copied byte by byte: the operation and its answer must be
///   trivially copyable
/// Naming: oracle::ask

#include <string>
#include <utility>

#include "weft/effects/effects.hpp"

struct oracle {
  struct ask : weft::op<bool> {
    explicit ask(std::string q) : question(std::move(q)) {}
    std::string question;
  };
  using operations = weft::op_list<ask>;
};
struct yes_and_no : weft::handler<oracle> {
  weft::eff<int> on(oracle::ask, weft::multi_resumption<bool, int> k) const {
    int const yes = co_await k(true);
    int const no = co_await k(false);
    co_return yes + no;
  }
};

weft::eff<int, oracle> asks() {
  bool const rain = co_await oracle::ask("will it rain?");
  co_return rain ? 1 : 0;
}

int main() { return weft::run(weft::handle(yes_and_no(), asks, weft::bitwise())); }
