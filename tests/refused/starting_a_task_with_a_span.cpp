// SPDX-License-Identifier: MIT
#include <array>
#include <span>

#include "sched/schedule.hpp"
#include "sched/task_handle.hpp"

using weft::tasking;

weft::eff<std::size_t> size(std::span<int> s) { co_return s.size(); }
weft::eff<void, tasking<>> forgets() {
  std::array<int, 3> local = {};
  (void)co_await weft::start_task(size, std::span<int>(local));
}

int main() { weft::schedule(forgets); }
