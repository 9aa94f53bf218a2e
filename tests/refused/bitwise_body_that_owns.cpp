// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a body that is resumed bitwise is copied byte by byte: its captures must be trivially
///   copyable
/// Naming: lambda

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

int main() {
  std::string const name = "Ada";
  auto const body = [name]() -> weft::eff<int, coin> {
    bool const heads = co_await coin::toss{};
    co_return heads ? static_cast<int>(name.size()) : 0;
  };
  return weft::run(weft::handle(both(), body, weft::bitwise()));
}
