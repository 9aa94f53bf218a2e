// SPDX-License-Identifier: MIT
#include "weft/sched/backends/detail/injection_queue.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "weft/sched/base/detail/trace_buffer.hpp"
#include "weft/sched/base/trace_event.hpp"

namespace weft::detail {

injection_queue::~injection_queue() {
  while (injection_node* const l = next_unfetched()) discard(l);
}

void injection_queue::put(thunk&& t) { put(std::move(t), std::make_unique<injection_node>()); }
void injection_queue::put(thunk&& t, spare_node in) noexcept {
  in->content = std::move(t);
  send(*in.release());
}
void injection_queue::stop() {
  // Relaxed: the exchange only makes sure that one caller sends the node.
  if (!was_stopped_.exchange(true, std::memory_order_relaxed)) send(stop_node_);
}
void injection_queue::send(injection_node& l) {
  pushed_.push(l);
  if (!sleeps_.load(std::memory_order_seq_cst)) return;  // [1] seq_cst: pairs with [2] (INJECT-1)
  {
    std::lock_guard const lock(mutex_);
    if (std::exchange(has_left_, false)) {
      sleeps_.store(false, std::memory_order_relaxed);  // relaxed: the mutex orders the stores
      return waker_();
    }
  }  // the mutex was free, so by now the worker waits, or has looked again
  woken_.notify_one();
}

void injection_queue::set_waker(std::function<void()> f) {
  come_back();
  std::lock_guard const lock(mutex_);
  waker_.swap(f);  // the old function is destroyed after the lock is released
}
bool injection_queue::try_leave() noexcept {
  std::lock_guard const lock(mutex_);
  if (waker_) {
    has_left_ = true;
    sleeps_.store(true, std::memory_order_seq_cst);  // [2] seq_cst: pairs with [1] (INJECT-1)
  }
  if (!has_news()) return true;
  has_left_ = false;
  sleeps_.store(false, std::memory_order_relaxed);  // relaxed: a needless wake-up does no harm
  return false;
}
void injection_queue::come_back() noexcept {
  // Relaxed: only this thread sets sleeps_; a putter that clears sleeps_ clears has_left_ as well.
  if (!sleeps_.load(std::memory_order_relaxed)) return;
  std::lock_guard const lock(mutex_);
  has_left_ = false;
  sleeps_.store(false, std::memory_order_relaxed);  // relaxed: a needless wake-up does no harm
}

bool injection_queue::sleep(instant until) {
  // Without this check the system would take some 80 microseconds to wait for a past instant.
  if (until != instant::max() && until <= instant::clock::now()) return false;
  std::unique_lock lock(mutex_);
  has_left_ = false;
  sleeps_.store(true, std::memory_order_seq_cst);  // [2] seq_cst: pairs with [1] (INJECT-1)
  bool in_time = true;
  note_traced({.kind = trace_kind::park});
  if (until == instant::max())
    woken_.wait(lock, [this] { return has_news(); });
  else
    in_time = woken_.wait_until(lock, until, [this] { return has_news(); });
  sleeps_.store(false, std::memory_order_relaxed);  // relaxed: a needless wake-up does no harm
  note_traced({.kind = trace_kind::unpark});
  return in_time;
}
thunk injection_queue::take_unfetched() noexcept {
  unfetched_ = pushed_.take_all();
  thunk found = thunk::reason::quiescent;
  bool has_noted = false;
  bool is_end = false;
  for (injection_node* l = unfetched_; l; l = unfetched_) {
    if (l == &stop_node_ || l == &reminder_) {
      unfetched_ = l->next;
      (l == &reminder_ ? has_noted : is_end) = true;
    } else if (!found) {
      found = std::move(l->content);
      discard(l);
    } else {
      unfetched_ = l->next;
      pushed_.push(*l);
    }
  }
  if (has_noted) pushed_.push(reminder_);
  if (is_end) pushed_.push(stop_node_);
  return found;
}
void injection_queue::push_back_unfetched() noexcept {
  while (injection_node* const l = std::exchange(unfetched_, nullptr)) {
    unfetched_ = l->next;
    pushed_.push(*l);
  }
}

}  // namespace weft::detail
