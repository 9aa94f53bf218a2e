// SPDX-License-Identifier: MIT
#include <string>
#include <string_view>

#include "sched/schedule.hpp"
#include "sched/task_handle.hpp"

using weft::tasking;

weft::eff<std::size_t> length(std::string_view s) { co_return s.size(); }
weft::eff<void, tasking<>> forgets() {
  std::string const local = "local";
  (void)co_await weft::start_task(length, std::string_view(local));
}

int main() { weft::schedule(forgets); }
