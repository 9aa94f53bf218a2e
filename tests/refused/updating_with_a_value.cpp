// SPDX-License-Identifier: MIT

/// Refused by a deleted function:
///   weft: update takes a function of the value, of a T&
/// Naming: weft::shared<
/// Naming: ::update

#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/shared.hpp"

using weft::syncing;

weft::eff<void, syncing> program() {
  weft::shared<int> n(0);
  co_await n.update(1);
}

int main() { weft::schedule(program); }
