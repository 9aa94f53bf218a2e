// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a body that is resumed bitwise is started where it is handled: pass a function, not its result
/// Naming: eff<void, coin>

#include "weft/effects/effects.hpp"

struct coin {
  struct toss : weft::op<bool> {};
  using operations = weft::op_list<toss>;
};
struct both : weft::region {
  void on(coin::toss, weft::multi_resumption<bool> k) {
    resume(k, true);
    resume(k, false);
  }
};

weft::eff<void, coin> tosses() { co_await coin::toss{}; }

int main() {
  both h;
  weft::run(weft::handle<coin>(h, tosses(), weft::bitwise()));
}
