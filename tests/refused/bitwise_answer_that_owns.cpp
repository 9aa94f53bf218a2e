// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a body that is resumed bitwise is copied byte by byte: the operation and its answer must be
///   trivially copyable
/// Naming: oracle::ask

#include <string>

#include "weft/effects/effects.hpp"

struct oracle {
  struct ask : weft::op<std::string> {};
  using operations = weft::op_list<ask>;
};
struct yes_and_no : weft::handler<oracle> {
  weft::eff<int> on(oracle::ask, weft::multi_resumption<std::string, int> k) const {
    int const yes = co_await k("yes");
    int const no = co_await k("no");
    co_return yes + no;
  }
};

weft::eff<int, oracle> letters() {
  std::string const answer = co_await oracle::ask{};
  co_return static_cast<int>(answer.size());
}

int main() { return weft::run(weft::handle(yes_and_no(), letters, weft::bitwise())); }
