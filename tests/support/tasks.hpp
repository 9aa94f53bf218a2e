// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <functional>

#include "tests/support/threads.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/sync/gate.hpp"
#include "weft/sched/sync/timing.hpp"
#include "weft/sched/tasks/scope.hpp"

/// For tests of tasks that may perform everything: one type of program, so that each backend is
/// compiled once for it, and not for each test.
namespace weft::tests {

using tasks = tasking<proc, syncing, mail, timing, completions>;
/// The row of a task, and of the first process.
template <class T>
using doing = eff<T, tasks, proc, syncing, mail, timing, completions>;
using job = doing<void>;
using tasks_scope = scope<proc, syncing, mail, timing, completions>;

/// A backend.
struct place {
  char const* name;
  bool has_threads;
  void (*run)(std::function<job()> const&);
  void (*run_in_virtual_time)(std::function<job()> const&);
};
template <class Where>
place place_of(char const* name) {
  return {name, Where::threads != 1, [](std::function<job()> const& p) { run_on<Where>(p); },
          [](std::function<job()> const& p) { run_on<Where>(virtual_time<Where>(), p); }};
}
/// Backends that differ in the use of tasks: as calls, never lazy, in a random order, taken by
/// other threads.
inline std::array<place, 5> const& places_for_tasks() {
  static std::array const all{
      place_of<on_one_thread>("alone"), place_of<on_locked_queue>("by_queue"),
      place_of<in_random_order>("by_random"), place_of<on_sharing<2>>("shared_by<2>"),
      place_of<on_stealing<2>>("stolen_by<2>")};
  return all;
}

/// Yields n times.
inline eff<void, proc> yields_often(int n) {
  for (int i = 0; i != n; ++i) co_await proc::yield{};
}

}  // namespace weft::tests
