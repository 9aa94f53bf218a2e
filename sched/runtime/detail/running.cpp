// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/running.hpp"

#include <cstddef>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "weft/sched/base/detail/system_process.hpp"
#include "weft/sched/runtime/detail/scheduler_core.hpp"

namespace weft::detail {

void require_no_trace(trace const* t) {
  if (t)
    throw std::logic_error(
        "weft: .trace is for a traced scheduler: schedule<tracing<>>, or tracing<...> with another "
        "backend inside");
}

void require_known(std::string_view effect, bool known) {
  if (!known)
    throw std::logic_error(
        "weft: a submitter for the effect " + std::string(effect) +
        ", which no process of this program may perform: name it in the program's row, or in its "
        "spawning<...>");
}

void run_on_threads(scheduler_core& s, unsigned threads,
                    void (*work)(scheduler_core& s, unsigned index) noexcept) {
  system_process const here;
  std::vector<std::thread> others;
  try {
    others.reserve(threads - 1);
    for (unsigned i = 1; i < threads; ++i) others.emplace_back([&s, work, i] { work(s, i); });
  } catch (...) {  // a thread cannot be started: those that exist unwind the processes
    s.fail({}, std::current_exception());
  }
  work(s, 0);
  if (!here.is_here()) {
    std::fputs(
        "weft: a program on several threads was forked, by fork(), while its processes ran: the "
        "child has one thread, and must not return from its process\n",
        stderr);
    std::terminate();
  }
  for (auto& t : others) t.join();
}

void throw_lost(std::size_t processes) {
  throw std::logic_error("weft: the backend has lost " + std::to_string(processes) + " processes");
}

}  // namespace weft::detail
