// SPDX-License-Identifier: MIT

/// Refused:
///   weft: this resumption rebinds nothing: its handler names effects, rebinds<E>, and its type,
///   resumption<result, answer, E>
/// Naming: resumption<int, int>

#include <utility>

#include "weft/effects/effects.hpp"

struct dice {
  struct roll : weft::op<int> {};
  using operations = weft::op_list<roll>;
};
using asking = weft::reader<int>;

weft::eff<int, asking> goes_on(weft::resumption<int, int> k) {
  co_return co_await std::move(k).under(6);
}

int main() { return weft::run(weft::handle(weft::reader_of(1), goes_on({}))); }
