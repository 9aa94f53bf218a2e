// SPDX-License-Identifier: MIT

/// Refused:
///   weft: a task that may outlive this function borrows: open a scope, or pass what it needs as
///   arguments by value
/// Naming: string_view

#include <string>
#include <string_view>

#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/task_handle.hpp"

using weft::tasking;

weft::eff<std::size_t> length(std::string_view s) { co_return s.size(); }
weft::eff<void, tasking<>> forgets() {
  std::string const local = "local";
  (void)co_await weft::start_task(length, std::string_view(local));
}

int main() { weft::schedule(forgets); }
