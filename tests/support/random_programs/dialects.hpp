// SPDX-License-Identifier: MIT
#pragma once

#include "tests/support/random_programs/dialect.hpp"

/// The dialects of the laws of the scheduler.
namespace weft::tests {

/// Programs of everything, small enough to visit all their schedules.  A program has a few kinds of
/// acts, so that its processes interact.
[[nodiscard]] dialect schedule_dialect(unsigned most_acts);
/// Small programs as those of schedule_dialect(), for every backend: a program does not fork, it does
/// not wait forever for external events, and no process ends a gate between another's look and its
/// wait.
[[nodiscard]] dialect dialect_of_every_backend(unsigned most_acts);
/// Programs of many processes, some with a log, that fail or stop the run now and then.
[[nodiscard]] dialect dialect_of_threads();
/// Programs in which every wait has a deadline, or ends by itself.
[[nodiscard]] dialect dialect_of_deadlines();
/// Programs in scopes that are cancelled, in which every wait may be cancelled.
[[nodiscard]] dialect dialect_of_cancellations();
/// Programs whose result does not depend on the order of their acts.
[[nodiscard]] dialect dialect_of_results();

}  // namespace weft::tests
