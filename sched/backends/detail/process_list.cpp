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
  while (first_) remove(first_);
}
listed_process* process_list::add(process& p, stealing_state_word const& life,
                                  std::atomic<std::uint32_t> const& steps) noexcept {
  auto* const e = new (std::nothrow) listed_process(p, life, steps);
  if (!e) return nullptr;
  std::lock_guard const lock(mutex_);
  e->next_ = std::exchange(first_, e);
  if (e->next_) e->next_->previous_ = e;
  return e;
}
void process_list::remove(listed_process* e) noexcept {
  {
    std::lock_guard const lock(mutex_);
    (e->previous_ ? e->previous_->next_ : first_) = e->next_;
    if (e->next_) e->next_->previous_ = e->previous_;
  }
  delete e;
}
std::vector<process_report> process_list::report() const {
  std::vector<process_report> all;
  {
    std::lock_guard const lock(mutex_);
    for (auto const* e = first_; e; e = e->next_) all.push_back(e->report());
  }
  std::ranges::sort(all, {}, &process_report::id);
  return all;
}

}  // namespace weft::detail
