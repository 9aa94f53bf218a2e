// SPDX-License-Identifier: MIT

/// Mistake: an operation with members and no constructor
/// Own words: clang g++

#include <string>

#include <weft/effects/effects.hpp>

using namespace weft;

struct press {
  struct [[nodiscard]] publish : op<void> {
    std::string text;
  };
  using operations = op_list<publish>;
};
struct drops_it : handler<press> {
  void on(press::publish const&) {}
};
eff<void, press> publishes() { co_await press::publish{"a headline"}; }
int main() { run(handle(drops_it(), publishes)); }
