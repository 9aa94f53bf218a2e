// SPDX-License-Identifier: MIT

/// Refused:
///   weft: on_wakeup() is for a backend whose worker may leave its thread to an event loop:
///   one_thread is one, those of several threads are not
/// Naming: weft::sharing

#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"

int main() {
  weft::scheduler<weft::sharing> s;
  s.on_wakeup([] {});
}
