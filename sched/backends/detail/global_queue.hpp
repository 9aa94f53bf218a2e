// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <span>
#include <utility>

#include "deque/steal_queue.hpp"

namespace weft::detail {

/// What is ready and belongs to no worker: first in, first out.  Who puts takes a lock, and those
/// who take do so without it, several at once: so neither waits for the other, and a worker that
/// is to take a batch does not fetch one entry after another from the putter's cache to learn where
/// the next is.
///
/// Throws nothing: an entry for which there is no memory waits in a list, through its member
/// `next`; so do those that come after it, until the list is empty.
///
///   GLOBAL-1  The owner of `queue_` (STEAL-2) is who has the lock.
///   GLOBAL-2  What is put is published with seq_cst, for who looks before going to sleep, as the look at
///       a worker's deque is (idle_threads.hpp, IDLE-2).
///   GLOBAL-3  The list is under the lock.  Its length is read without.  What stands in it has come after
///       all that stands in `queue_`: so it is taken when that is empty.
template <class Entry>
class global_queue {
 public:
  void push(Entry& e) noexcept {
    std::lock_guard const lock(mutex_);
    if (first_) return list(e);  // GLOBAL-3
    try {
      queue_.push(&e);
    } catch (...) {
      return list(e);
    }
    queue_.publish();  // GLOBAL-2
  }
  /// The first ones, as many as there is room for in `out`, but no more than a share of what there
  /// is, if others are to have theirs; one at least, if there is one.  How many.
  [[nodiscard]] std::size_t take(std::span<Entry*> out, std::size_t sharers) noexcept {
    for (;;) {
      std::size_t const share = 1 + (std::max<std::size_t>(queue_.size(), 1) - 1) / sharers;
      auto const n = thief(queue_).take(out.first(std::min(out.size(), share)));
      if (n) return *n;
      if (n.is_empty()) return take_listed(out);
    }
  }
  [[nodiscard]] bool is_empty() const noexcept {
    return queue_.is_empty() &&
           listed_.load(std::memory_order_seq_cst) == 0;  // [2] seq_cst: GLOBAL-2
  }

 private:
  using thief = typename steal_queue<Entry*>::thief;

  void list(Entry& e) noexcept {
    e.next = nullptr;
    (last_ ? last_->next : first_) = &e;
    last_ = &e;
    // [1] seq_cst: GLOBAL-2.  Relaxed: it is under the lock.
    listed_.store(listed_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  }
  [[nodiscard]] std::size_t take_listed(std::span<Entry*> out) noexcept {
    // Relaxed: who goes to sleep looks again, [2].
    if (listed_.load(std::memory_order_relaxed) == 0) [[likely]]
      return 0;
    std::lock_guard const lock(mutex_);
    if (!first_) return 0;
    out.front() = std::exchange(first_, first_->next);
    if (!first_) last_ = nullptr;
    // Relaxed: who sees it late finds the list empty, under the lock.
    listed_.store(listed_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    return 1;
  }

  std::mutex mutex_;
  Entry* first_ = nullptr;  // GLOBAL-3
  Entry* last_ = nullptr;
  std::atomic<std::size_t> listed_ = 0;
  steal_queue<Entry*> queue_;  // GLOBAL-1
};

}  // namespace weft::detail
