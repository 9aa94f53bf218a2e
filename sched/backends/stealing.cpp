// SPDX-License-Identifier: MIT
#include "weft/sched/backends/stealing.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace weft {

stealing::stealing(options const& o)
    : shared_(o, o.threads ? o.threads : std::max(1U, std::thread::hardware_concurrency())) {}

void stealing::recheck_deadlines() noexcept {
  // [1] seq_cst: pairs with the load in stealing_worker::rechecks().  The count is published before
  // wake_all() checks for sleepers, and a sleeper loads it after it has announced itself (IDLE-2 of
  // idle_threads.hpp).
  shared_.rechecks.fetch_add(1, std::memory_order_seq_cst);
  shared_.idle.wake_all();
}
worker_counts stealing::counts(unsigned index) const {
  if (index >= shared_.count) throw std::out_of_range("weft: there is no such worker");
  auto const& h = shared_.homes[index];
  // Relaxed, all of them: the counts order nothing.
  return {h.run.load(std::memory_order_relaxed), h.stolen.load(std::memory_order_relaxed),
          h.parked.load(std::memory_order_relaxed), h.woken.load(std::memory_order_relaxed)};
}
std::vector<process_report> stealing::processes() const {
  if (!shared_.options.keep_list)
    throw std::logic_error("weft: stealing lists its processes if .keep_list = true says so");
  return shared_.list.report();
}

}  // namespace weft
