// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a body that is resumed bitwise is copied byte by byte: a handler inside must be trivially
///   copyable, and owned
/// Naming: reader_of<std::

#include <string>

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

weft::eff<int, weft::reader<std::string>, coin> tosses() {
  bool const heads = co_await coin::toss{};
  std::string const name = co_await weft::reader<std::string>::ask{};
  co_return heads ? static_cast<int>(name.size()) : 0;
}

int main() {
  return weft::run(
      weft::handle(weft::reader_of(std::string("Ada")) | both(), tosses, weft::bitwise()));
}
