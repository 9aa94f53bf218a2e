// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a body that is resumed bitwise is copied byte by byte: a handler inside must be trivially
///   copyable, and owned
/// Naming: state_of<int>

#include "weft/effects/effects.hpp"

struct coin {
  struct toss : weft::op<bool> {};
  using operations = weft::op_list<toss>;
};
struct both : weft::handler<coin> {
  weft::eff<int> on(coin::toss, weft::multi_resumption<bool, int> k) const {
    int const heads = co_await k(true);
    int const tails = co_await k(false);
    co_return heads + tails;
  }
};

weft::eff<int, weft::state<int>, coin> tosses() {
  bool const heads = co_await coin::toss{};
  int const n = co_await weft::state<int>::get{};
  co_return heads ? n : 0;
}

int main() {
  auto counter = weft::state_of(1);
  return weft::run(weft::handle(counter | both(), tosses, weft::bitwise()));
}
