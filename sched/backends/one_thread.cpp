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
  auto const drop_all = [this] {
    turns_ = pushes_ = pops_ = 0;
    expects_only_ = false;
    thunk const only = std::move(only_);
    queue const others = std::move(ready_);
  };
  do drop_all();
  while (injected_.has_news() && injected_.fetch(*this));
  while (!is_empty()) drop_all();  // a process that was dropped has put another one
  ready_ = std::move(q);
}
void one_thread::worker::put_slow(thunk&& t) {
  turns_ = pops_ = 0;
  move_only();
  // Passes `t` on as a reference, so that it is unchanged if there is no memory.  A new thunk,
  // constructed before the memory is found, would be dropped then, and its process unwound.
  ready_.push_front(std::move(t));
  pushes_ = ready_.front_room();
}
thunk one_thread::worker::take_slow(instant until, quiescence_test quiescent) {
  if (is_empty())
    if (auto w = injected_.wait(*this, until, quiescent); !w.has_come) return std::move(w.instead);
  if (only_) return take(until, quiescent);
  turns_ = 0;
  thunk t = ready_.pop_back();
  // The last process is taken here, so that the next one that becomes ready is expected (ONE-2).
  std::size_t const run = ready_.back_run();
  pops_ = run == 0 ? 0 : run - 1;
  if (ready_.empty()) {
    pushes_ = 0;
    expects_only_ = ready_.front_room() != 0;
  }
  return t;
}
void one_thread::worker::on_reminder() {
  if (kept_ != 0 && !is_empty()) {
    --kept_;
    return injected_.remind();
  }
  std::size_t begun = 0;
  try {  // promote() may drop a task, which may push further ones
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
