// SPDX-License-Identifier: MIT
#include <memory>

#include "effects/effects.hpp"

struct lender {
  struct lend : weft::op<std::unique_ptr<int>> {};
  using operations = weft::op_list<lend>;
};

weft::eff<void, lender> borrows() { auto const p = co_await lender::lend{}; }

int main() { auto const e = borrows(); }
