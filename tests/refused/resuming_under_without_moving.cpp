// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a resumption is used once: write std::move(k).under(v)
/// Naming: resumption<int, int, weft::reader<int>

#include <utility>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
using asking = weft::reader<int>;

weft::eff<int, asking> goes_on(weft::resumption<int, int, asking> k) {
  co_return co_await k.under(6);
}

int main() { return weft::run(weft::handle(weft::reader_of(1), goes_on({}))); }
