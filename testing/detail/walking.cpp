// SPDX-License-Identifier: MIT
#include "weft/testing/detail/walking.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "weft/testing/detail/search.hpp"
#include "weft/testing/detail/walks.hpp"
#include "weft/testing/exploration.hpp"

namespace weft::detail {

namespace {

std::vector<std::unique_ptr<random_walker>> walkers_of(walkers_map& map, walk_strategy by,
                                                       std::size_t depth) {
  std::vector<std::unique_ptr<random_walker>> all;
  bool const every = by == walk_strategy::portfolio;
  if (every || by == walk_strategy::uniform) all.push_back(std::make_unique<uniform_walker>(map));
  if (every || by == walk_strategy::weighted) all.push_back(std::make_unique<weighted_walker>(map));
  if (every || by == walk_strategy::pct)
    for (std::size_t d = every ? 1 : depth; d <= depth; ++d)
      all.push_back(std::make_unique<pct_walker>(map, d));
  return all;
}

}  // namespace

exploration walk(subject& program, walk_plan const& plan) {
  exploration found;
  found.complete = false;  // perhaps it is complete, but that is not known
  std::atomic<bool> is_over = false;
  std::atomic<std::size_t> begun = 0;
  std::mutex mutex;  // guards found and error
  std::exception_ptr error;
  auto const walks = [&](unsigned thread) noexcept {
    try {
      search_limits limits = plan.limits;
      if (thread != 0) limits.progress = progress::never;
      search s(program, limits);
      walkers_map map(plan.seed + thread);
      auto const all = walkers_of(map, plan.by, plan.depth);
      // Relaxed: a thread that sees is_over late visits one schedule more.
      for (std::size_t i = 0; !is_over.load(std::memory_order_relaxed); i = (i + 1) % all.size()) {
        // Relaxed: the count publishes no other data.
        if (plan.threads != 1 &&
            begun.fetch_add(1, std::memory_order_relaxed) >= plan.limits.max_schedules) {
          s.found().leave_out(search::at_max_schedules);
          break;
        }
        if (s.run(*all[i])) continue;
        is_over.store(true, std::memory_order_relaxed);  // relaxed: may be seen late
      }
      s.end();
      std::lock_guard const lock(mutex);
      found.add(std::move(s.found()));
    } catch (...) {
      std::lock_guard const lock(mutex);
      error = std::current_exception();
      is_over.store(true, std::memory_order_relaxed);  // relaxed: may be seen late
    }
  };
  std::vector<std::thread> others;
  try {
    for (unsigned i = 1; i < plan.threads; ++i) others.emplace_back(walks, i);
  } catch (std::exception const&) {  // goes on with as many threads as the system allows
  }
  walks(0);
  for (auto& t : others) t.join();
  if (error) std::rethrow_exception(error);
  found.covered.random = found.schedules;
  return found;
}

}  // namespace weft::detail
