// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a continuation is resumed under the handlers of the coroutine that awaits it: name in its row
///   the effects that the resumption rebinds
/// Naming: weft::row<weft::reader<int>

#include <utility>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
using asking = weft::reader<int>;

weft::eff<int> goes_on(weft::resumption<int, int, asking> k) {
  co_return co_await std::move(k).under(6);
}

int main() { return weft::run(goes_on({})); }
