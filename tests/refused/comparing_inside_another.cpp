// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a composition that is compared is no body of another handler: pass a function that awaits it
/// Naming: both

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

weft::eff<int, coin> tosses() {
  bool const heads = co_await coin::toss{};
  co_return heads ? 1 : 0;
}

int main() {
  return weft::run(weft::handle<weft::state<int>>(weft::state_of(0),
                                                  weft::handle(both(), tosses, weft::compared())));
}
