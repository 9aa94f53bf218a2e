// SPDX-License-Identifier: MIT
#include <memory>

#include "effects/effects.hpp"
#include "sched/schedule.hpp"

struct lender {
  struct lend : weft::op<std::unique_ptr<int>> {};
  using operations = weft::op_list<lend>;
};
struct bank {
  std::unique_ptr<int> on(lender::lend) { return nullptr; }
};

weft::eff<void, weft::proc, lender> borrows() { auto const p = co_await lender::lend{}; }

int main() { weft::schedule(borrows, bank()); }
