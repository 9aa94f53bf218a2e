// SPDX-License-Identifier: MIT
#include "weft/sched/sync/detail/timers.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"

namespace weft::detail {

timers::timers(ready_sink& sink, bool several_threads) noexcept
    : sink_(sink), has_several_threads_(several_threads) {}
timers::~timers() = default;

void timers::cancel_all() noexcept {
  while (process* const p = take_any()) sink_.wake_cancelled(*p);
}
void timers::drop_all() noexcept {
  while (process* const p = take_any()) (void)thunk(p);
}

void timers::close() noexcept {
  auto const locked = lock();
  closed_ = true;
}
void timers::reopen() noexcept {
  auto const locked = lock();
  closed_ = false;
}

void timers::remove(alarm& a) noexcept {
  {
    auto const locked = lock();
    if (a.home_.load(std::memory_order_relaxed)) remove_at(a.index_);  // relaxed: under the lock
  }
  // If the process still waits, only its frames inside a handler are unwound, the operation among
  // them: the process is made ready, and finds that the handler has ended.
  if (process* const p = a.parked_->take()) sink_.make_ready(thunk(p));
}
process* timers::take_first_due(instant now) noexcept {
  auto const locked = lock();
  while (!heap_.empty() && heap_.front().at <= now) {
    // The process is taken first: once the alarm is off the heap, the alarm and its waiter may be
    // destroyed, without the lock ([1] in remove_at()).
    process* const p = heap_.front().what->parked_->take();
    remove_at(0);
    if (p) return p;
  }
  return nullptr;
}
bool timers::insert(alarm& a) {
  heap_.push_back({a.at_, ++set_, &a});
  // relaxed: without the lock, only the process of the alarm reads `home_`.
  a.home_.store(this, std::memory_order_relaxed);
  rise(heap_.size() - 1);
  note_next();
  return heap_.front().what == &a;
}
void timers::put(std::size_t i, entry const& e) noexcept {
  heap_[i] = e;
  e.what->index_ = i;
}
void timers::rise(std::size_t i) noexcept {
  entry const e = heap_[i];
  for (; i != 0 && e.is_before(heap_[(i - 1) / branches]); i = (i - 1) / branches)
    put(i, heap_[(i - 1) / branches]);
  put(i, e);
}
void timers::sink_down(std::size_t i) noexcept {
  entry const e = heap_[i];
  for (;;) {
    std::size_t const from = branches * i + 1;
    std::size_t const to = std::min(from + branches, heap_.size());
    if (from >= to) break;
    std::size_t first = from;
    for (std::size_t k = from + 1; k != to; ++k)
      if (heap_[k].is_before(heap_[first])) first = k;
    if (!heap_[first].is_before(e)) break;
    put(i, heap_[first]);
    i = first;
  }
  put(i, e);
}
void timers::remove_at(std::size_t i) noexcept {
  alarm& gone = *heap_[i].what;
  entry const last = heap_.back();
  heap_.pop_back();
  if (last.what != &gone) {
    put(i, last);
    rise(i);
    sink_down(last.what->index_);
  }
  note_next();
  // [1] release: the last access to the alarm here.  Pairs with [2] in ~alarm (timers.hpp), which
  // does not take the lock if it reads this null: so the accesses here happen before the alarm is
  // destroyed.
  gone.home_.store(nullptr, std::memory_order_release);
}
void timers::note_next() noexcept {
  // relaxed: `next_` is a hint to other threads.
  next_.store(heap_.empty() ? never : heap_.front().at.time_since_epoch().count(),
              std::memory_order_relaxed);
}

}  // namespace weft::detail
