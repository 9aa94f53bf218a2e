// SPDX-License-Identifier: MIT
#include "weft/sched/backends/detail/idle_threads.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "weft/sched/base/detail/trace_buffer.hpp"
#include "weft/sched/base/trace_event.hpp"

namespace weft::detail {

/// The place where one thread sleeps, on a cache line of its own.
class alignas(64) idle_threads::monitor {
 public:
  void forget() noexcept {
    std::lock_guard const lock(mutex_);
    is_woken_ = false;
  }
  void wake() noexcept {
    {
      std::lock_guard const lock(mutex_);
      is_woken_ = true;
    }
    woken_.notify_one();  // after the unlock, since the woken thread takes the lock
  }
  /// Sleeps until wake() is called.  False if the deadline passes first.
  bool wait(instant until) {
    std::unique_lock lock(mutex_);
    auto const is_woken = [this] { return is_woken_; };
    if (until != instant::max()) return woken_.wait_until(lock, until, is_woken);
    woken_.wait(lock, is_woken);
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable woken_;
  bool is_woken_ = false;
};

idle_threads::idle_threads(unsigned threads) : monitors_(std::make_unique<monitor[]>(threads)) {
  list_.reserve(threads);
}
idle_threads::~idle_threads() = default;

void idle_threads::join() noexcept {
  std::lock_guard const lock(mutex_);
  ++threads_;
  ++changes_;  // so a thread that is deciding does not end the run (IDLE-4)
}
void idle_threads::leave() noexcept {
  std::lock_guard const lock(mutex_);
  // Relaxed: no other thread is left.
  if (--threads_ == 0) word_.fetch_and(~quiescent, std::memory_order_relaxed);
}
void idle_threads::wake_all() noexcept {
  // [3] seq_cst: pairs with [1] in announce(), like [2] (IDLE-2).
  if ((word_.load(std::memory_order_seq_cst) & count) == 0) return;
  std::lock_guard const lock(mutex_);
  strike_all();
}
void idle_threads::stop() noexcept {
  std::lock_guard const lock(mutex_);
  end(stopped);
}

namespace {
/// Adds to the trace that the thread sleeps, and at the end of the scope that it no longer does.
struct parked {
  parked() noexcept { note_traced({.kind = trace_kind::park}); }
  parked(parked const&) = delete;
  parked& operator=(parked const&) = delete;
  ~parked() { note_traced({.kind = trace_kind::unpark}); }
};
}  // namespace

idle_threads::slept idle_threads::sleep(unsigned self, instant until, quiescence_test dry_now,
                                        queue_test queues) {
  static constexpr auto nap_time = std::chrono::milliseconds(10);
  monitor& m = monitors_[self];
  m.forget();
  announced const a = announce(self);
  if (a.is_over) return slept::not_at_all;
  // The test of quiescence is called without the lock: it may put something.
  if (a.is_last && dry_now() && decide(a.changes, queues)) return slept::not_at_all;
  if (!queues.all_are_empty()) {
    withdraw(self);
    return slept::not_at_all;
  }
  parked const here;
  while (try_watch(self)) {
    instant const nap = std::min(until, instant::clock::now() + nap_time);
    bool const is_woken = m.wait(nap);
    end_watch();
    if (!is_woken && nap != until && queues.all_are_empty()) continue;
    bool const was_listed = withdraw(self);
    if (is_woken) return slept::until_woken;
    request_another_watch();
    return was_listed && nap == until ? slept::until_deadline : slept::until_woken;
  }
  bool const is_woken = m.wait(until);
  // A wake-up may be late: it was meant for an earlier sleep, after which the thread has found the
  // work by itself.  Then the thread is woken although it is on the list.
  return withdraw(self) && !is_woken ? slept::until_deadline : slept::until_woken;
}

void idle_threads::wake_one_slow() noexcept {
  unsigned thread = 0;
  {
    std::lock_guard const lock(mutex_);
    if (list_.empty()) return;
    auto at = list_.end() - 1;
    // A thread on watch is woken only if no other thread sleeps: its nap ends soon anyway (IDLE-5).
    if (*at == on_watch_ && at != list_.begin()) --at;
    thread = *at;
    strike(at);
  }
  wake(thread);  // necessary, since the thread is off the list (IDLE-3)
}
void idle_threads::wake(unsigned thread) noexcept {
  note_traced({.kind = trace_kind::wake, .other_worker = static_cast<std::uint16_t>(thread)});
  monitors_[thread].wake();
}
/// Goes on watch if a watch is wanted and no thread is on watch (IDLE-5).
bool idle_threads::try_watch(unsigned self) noexcept {
  std::lock_guard const lock(mutex_);
  unsigned const found = word_.load(std::memory_order_relaxed);  // relaxed: [4] says why
  if ((found & watch_bits) != wanted) return false;
  // [4] relaxed: a thread that reads both bits as set wakes no thread (request_watch()).  This
  // thread finds the work when it looks at the queues, which it does after [5] in end_watch().
  word_.fetch_xor(watch_bits, std::memory_order_relaxed);
  on_watch_ = self;
  return true;
}
void idle_threads::end_watch() noexcept {
  std::lock_guard const lock(mutex_);
  on_watch_ = no_thread;
  // [5] seq_cst: pairs with [2] in request_watch(), like [1].  The looks at the queues come later.
  word_.fetch_and(~watched, std::memory_order_seq_cst);
}
/// Called by a thread that was on watch and now has something to do: wakes another thread to look,
/// since there may be more work.
void idle_threads::request_another_watch() noexcept {
  // Relaxed: the woken thread looks at the queues anyway.
  word_.fetch_or(wanted, std::memory_order_relaxed);
  wake_one();
}
idle_threads::announced idle_threads::announce(unsigned self) noexcept {
  std::lock_guard const lock(mutex_);
  if (is_over()) return {true, false, 0};
  list_.push_back(self);  // this thread runs, so it is not on the list (IDLE-1)
  // [1] seq_cst: pairs with [2] in is_to_wake() and request_watch(), as IDLE-2 says.
  word_.fetch_add(1, std::memory_order_seq_cst);
  return {false, list_.size() == threads_, ++changes_};
}
/// Ends the run if no thread has joined, entered the list or left it since changes_ was `changes`,
/// and all queues are empty (IDLE-4).  Returns whether it did.
bool idle_threads::decide(std::uint64_t changes, queue_test queues) noexcept {
  std::lock_guard const lock(mutex_);
  if (changes_ != changes || !queues.all_are_empty()) return false;
  end(quiescent);
  return true;
}
/// Takes the calling thread off the list.  False if another thread has done so already.
bool idle_threads::withdraw(unsigned self) noexcept {
  std::lock_guard const lock(mutex_);
  auto const at = std::ranges::find(list_, self);
  if (at == list_.end()) return false;
  strike(at);
  return true;
}

// ---- under the lock

void idle_threads::strike(std::vector<unsigned>::iterator at) noexcept {
  list_.erase(at);
  ++changes_;
  // Relaxed: a thread that still reads the old count takes the lock, and finds the new list.
  word_.fetch_sub(1, std::memory_order_relaxed);
}
void idle_threads::end(unsigned how) noexcept {
  // Relaxed: wake(), called by strike_all(), publishes the flag.
  word_.fetch_or(how, std::memory_order_relaxed);
  strike_all();
}
void idle_threads::strike_all() noexcept {
  for (unsigned const thread : list_) wake(thread);
  // Relaxed: a thread that still reads the old count takes the lock, and finds the list empty.
  word_.fetch_sub(static_cast<unsigned>(list_.size()), std::memory_order_relaxed);
  list_.clear();
  ++changes_;
}

}  // namespace weft::detail
