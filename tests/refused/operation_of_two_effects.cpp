// SPDX-License-Identifier: MIT

/// Refused:
///   weft: two effects of the row list this operation: tag one of them
/// Naming: weft::proc::yield

#include "weft/effects/effects.hpp"

struct also_yields {
  using operations = weft::op_list<weft::proc::yield>;
};

weft::eff<void, weft::proc, also_yields> unclear() { co_await weft::proc::yield{}; }

int main() { auto const e = unclear(); }
