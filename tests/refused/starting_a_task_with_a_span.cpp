// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a task that may outlive this function borrows: open a scope, or pass what it needs as
///   arguments by value
/// Naming: span<int

#include <array>
#include <span>

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/task_handle.hpp"

using weft::tasking;

weft::eff<std::size_t> size(std::span<int> s) { co_return s.size(); }
weft::eff<void, tasking<>> forgets() {
  std::array<int, 3> local = {};
  (void)co_await weft::start_task(size, std::span<int>(local));
}

int main() { weft::schedule(forgets); }
