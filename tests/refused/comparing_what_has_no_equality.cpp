// SPDX-License-Identifier: MIT

/// Refused:
///   weft: the answer of a composition that is compared must have an operator==
/// Naming: score

#include "weft/effects/effects.hpp"

struct coin {
  struct toss : weft::op<bool> {};
  using operations = weft::op_list<toss>;
};
struct score {
  int heads;
};
struct both : weft::handler<coin> {
  weft::eff<score> on(coin::toss, weft::multi_resumption<bool, score> k) const {
    score const heads = co_await k(true);
    score const tails = co_await k(false);
    co_return score{heads.heads + tails.heads};
  }
};

weft::eff<score, coin> tosses() {
  bool const heads = co_await coin::toss{};
  co_return score{heads ? 1 : 0};
}

int main() { return weft::run(weft::handle(both(), tosses, weft::compared())).heads; }
