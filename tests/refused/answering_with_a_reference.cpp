// SPDX-License-Identifier: MIT

/// Refused:
///   weft: operations and computations give values: use a pointer for a reference
/// Naming: weft::op<int

#include "weft/effects/effects.hpp"

struct shelf {
  struct look : weft::op<int&> {};
  using operations = weft::op_list<look>;
};
struct one_book {
  int book = 1;
  int& on(shelf::look) { return book; }
};

weft::eff<int, shelf> reads() {
  int const& book = co_await shelf::look{};
  co_return book;
}

int main() { return weft::run(weft::handle<shelf>(one_book(), reads())); }
