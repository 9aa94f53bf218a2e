// SPDX-License-Identifier: MIT
#pragma once

#include "tests/support/each_backend.hpp"
#include "tests/support/effects.hpp"
#include "tests/support/random_programs/processes.hpp"
#include "tests/support/random_programs/world.hpp"
#include "weft/sched/schedule.hpp"

/// Random programs on the library's backends.
namespace weft::tests {

struct counts_up {
  explicit counts_up(int& count) : n(&count) {}
  int* n;
  int on(ask::get) { return ++*n; }
};

/// Runs the program of that world on a backend, to its end.  Throws the exceptions of schedule().
/// Compiled once for all tests.
void run_on(chosen_backend chosen, schedule_options const& how, shared_world& w);

}  // namespace weft::tests
