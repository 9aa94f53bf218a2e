// SPDX-License-Identifier: MIT
#include "weft/sched/backends/detail/process_list.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "weft/effects/describe.hpp"

namespace weft::detail {

listed_process::listed_process(process& p, stealing_state_word const& life,
                               std::atomic<std::uint32_t> const& steps)
    : id_(p.id()), life_(life), steps_(steps) {}
void listed_process::waits(process const& p) noexcept {
  std::lock_guard const lock(mutex_);
  at_ = p.resumes_at();
}
process_report listed_process::report() const {
  stealing_state const state = life_.now();
  std::string waits_for;
  if (state == stealing_state::blocked || state == stealing_state::idle) {
    std::lock_guard const lock(mutex_);
    waits_for = std::string(at_.operation) + " at " + detail::text(at_.where);
  }
  // Relaxed: a count, which orders nothing.
  return {id_, state, steps_.load(std::memory_order_relaxed), std::move(waits_for)};
}

process_list::~process_list() {
  while (listed_process* const e = all_.first()) remove(e);
}
listed_process* process_list::add(process& p, stealing_state_word const& life,
                                  std::atomic<std::uint32_t> const& steps) noexcept {
  auto* const e = new (std::nothrow) listed_process(p, life, steps);
  if (!e) return nullptr;
  std::lock_guard const lock(mutex_);
  all_.push_back(*e);
  return e;
}
void process_list::remove(listed_process* e) noexcept {
  {
    std::lock_guard const lock(mutex_);
    all_.remove(*e);
  }
  delete e;
}
std::vector<process_report> process_list::report() const {
  std::vector<process_report> reports;
  {
    std::lock_guard const lock(mutex_);
    for (auto const* e = all_.first(); e; e = all_.next(*e)) reports.push_back(e->report());
  }
  std::ranges::sort(reports, {}, &process_report::id);
  return reports;
}

}  // namespace weft::detail
