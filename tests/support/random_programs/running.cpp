// SPDX-License-Identifier: MIT
#include "tests/support/random_programs/running.hpp"

#include "tests/support/each_backend.hpp"
#include "tests/support/random_programs/processes.hpp"
#include "tests/support/random_programs/world.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

namespace weft::tests {

void run_on(chosen_backend chosen, schedule_options const& how, shared_world& w) {
  run_on(
      chosen, how, [&w] { return starts_all(w); }, synchronized(console_to_string(w.out)),
      synchronized(counts_up(w.asked)));
}

}  // namespace weft::tests
