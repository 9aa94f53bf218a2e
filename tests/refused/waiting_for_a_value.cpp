// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: wait_for takes a predicate: a function of the value, of a T const&, that says whether it
///   is right
/// Naming: weft::shared<
/// Naming: ::wait_for

#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/shared.hpp"

using weft::syncing;

weft::eff<void, syncing> program() {
  weft::shared<int> n(0);
  int const right = co_await n.wait_for(1);
  co_await n.set(right);
}

int main() { weft::schedule(program); }
