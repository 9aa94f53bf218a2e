// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a composition that is compared performs no effect outside: handle all of them in it
/// Naming: weft::row<weft::console>

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

weft::eff<int, coin, weft::console> tosses() {
  bool const heads = co_await coin::toss{};
  co_await weft::console::print{heads ? "heads " : "tails "};
  co_return heads ? 1 : 0;
}

weft::eff<int, weft::console> all() {
  int const heads = co_await weft::handle(both(), tosses, weft::compared());
  co_return heads;
}

int main() { auto const e = all(); }
