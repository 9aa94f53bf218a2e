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

/// The ready entries that belong to no worker: first in, first out.  A putter takes a lock; takers
/// take without it, several entries at once.  So neither waits for the other, and a worker that
/// takes a batch does not fetch one entry after another from the putter's cache to find the next
/// one.
///
/// Throws nothing.  An entry for which there is no memory goes to a list, through its member
/// `next`; so do those that come after it, until the list is empty.
///
///   GLOBAL-1  The owner of `queue_` (STEAL-2) is the thread that has the lock.
///   GLOBAL-2  An entry is published with seq_cst, for a thread that looks before it goes to sleep,
///       like the entries of a worker's deque (idle_threads.hpp, IDLE-2).
///   GLOBAL-3  The list is changed under the lock; its length is also read without it.  The entries
///       of the list have come after all entries of `queue_`: so they are taken when that is empty.
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
  /// Takes the first entries, as many as fit into `out`, but at most the share of one of `sharers`;
  /// at least one, if there is one.  Returns how many.
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
           listed_.load(std::memory_order_seq_cst) == 0;  // [2] seq_cst: pairs with [1], GLOBAL-2
  }

 private:
  using thief = typename steal_queue<Entry*>::thief;

  void list(Entry& e) noexcept {
    e.next = nullptr;
    (last_ ? last_->next : first_) = &e;
    last_ = &e;
    // [1] seq_cst: pairs with [2], GLOBAL-2.  The load is relaxed: under the lock.
    listed_.store(listed_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  }
  [[nodiscard]] std::size_t take_listed(std::span<Entry*> out) noexcept {
    // Relaxed: a thread that goes to sleep looks again [2].
    if (listed_.load(std::memory_order_relaxed) == 0) [[likely]]
      return 0;
    std::lock_guard const lock(mutex_);
    if (!first_) return 0;
    out.front() = std::exchange(first_, first_->next);
    if (!first_) last_ = nullptr;
    // Relaxed: a taker that sees it late finds the list empty, under the lock.
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
