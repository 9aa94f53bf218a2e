// SPDX-License-Identifier: MIT
#include "weft/sched/backends/one_thread.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

namespace weft {

one_thread::worker::~worker() {
  // The lazy tasks that are left are promoted, and the processes dropped (BACKEND-6).
  for (std::size_t i = 0; i != lazy_.size(); ++i) (void)lazy_[i]->promote();
}
void one_thread::worker::reserve_lazy(std::size_t n) {
  if (!has_room(n)) lazy_.reserve(std::max(2 * lazy_.capacity(), lazy_.size() + n));
}
void one_thread::worker::ready(queue q) {
  turns_ = 0;
  for (ready_ = {}; injected_.has_news() && injected_.fetch(*this); ready_ = {}) {
  }
  ready_ = std::move(q);
}
void one_thread::worker::on_reminder() {
  if (kept_ != 0 && !ready_.empty()) {
    --kept_;
    return injected_.remind();
  }
  std::size_t begun = 0;
  try {  // promote() may drop a task, which may push further tasks
    if (without_room_) put_in(std::move(without_room_));
    while (begun != lazy_.size())
      if (thunk t = lazy_[begun++]->promote()) {
        without_room_ = std::move(t);
        put_in(std::move(without_room_));
      }
  } catch (std::bad_alloc const&) {  // the other tasks are promoted later
    lazy_.erase(lazy_.begin(), lazy_.begin() + static_cast<std::ptrdiff_t>(begun));
    return injected_.remind();
  }
  lazy_.clear();
}

}  // namespace weft
