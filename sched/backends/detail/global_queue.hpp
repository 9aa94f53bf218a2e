// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <span>
#include <utility>

#include "weft/deque/steal_queue.hpp"

namespace weft::detail {

/// The ready entries that belong to no worker: first in, first out.  A putter takes a lock; takers
/// take several entries at once, without the lock.  So putters and takers do not wait for each
/// other; and a worker that takes a batch reads an array, and need not follow a link from entry to
/// entry, each of them in the putter's cache.
///
/// Throws nothing.  An entry for which there is no memory goes to a list, linked by the member
/// `next`; so do the entries that come after it, until the list is empty.  Takers take the entries
/// of the list under the lock, one by one.
///
///   GLOBAL-1  The owner of `queue_` (STEAL-2) is the thread that has the lock.
///   GLOBAL-2  An entry is published with seq_cst, like the entries of a worker's deque: a thread
///       that looks a last time before it sleeps must see it (idle_threads.hpp, IDLE-2).
///   GLOBAL-3  The list is changed under the lock; its length is also read without the lock.  The
///       entries of the list have come after all entries of `queue_`, so they are taken when
///       `queue_` is empty.
template <class Entry>
class global_queue {
 public:
  void push(Entry& e) noexcept {
    std::lock_guard const lock(mutex_);
    if (first_) return list(e);  // comes after the entries of the list (GLOBAL-3)
    try {
      queue_.push(&e);
    } catch (...) {
      return list(e);
    }
    queue_.publish();  // a thread that is about to sleep must see the entry (GLOBAL-2)
  }
  /// Takes the first entries into `out`, and returns how many: at least one, if there is one; at
  /// most as many as fit, and no more than one of `sharers` equal shares of the queue.
  [[nodiscard]] std::size_t take(std::span<Entry*> out, std::size_t sharers) noexcept {
    for (;;) {
      std::size_t const share = 1 + (std::max<std::size_t>(queue_.size(), 1) - 1) / sharers;
      auto const n = thief(queue_).take(out.first(std::min(out.size(), share)));
      if (n) return *n;
      if (n.is_empty()) return take_listed(out);
    }
  }
  [[nodiscard]] bool is_empty() const noexcept {
    // [2] seq_cst: pairs with [1] in list() (GLOBAL-2).
    return queue_.is_empty() && listed_.load(std::memory_order_seq_cst) == 0;
  }

 private:
  using thief = typename steal_queue<Entry*>::thief;

  void list(Entry& e) noexcept {
    e.next = nullptr;
    (last_ ? last_->next : first_) = &e;
    last_ = &e;
    // [1] seq_cst: pairs with [2] in is_empty() (GLOBAL-2).  The load is relaxed, under the lock.
    listed_.store(listed_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  }
  [[nodiscard]] std::size_t take_listed(std::span<Entry*> out) noexcept {
    // Relaxed: a thread that goes to sleep reads listed_ again, in is_empty() [2].
    if (listed_.load(std::memory_order_relaxed) == 0) [[likely]]
      return 0;
    std::lock_guard const lock(mutex_);
    if (!first_) return 0;
    out.front() = std::exchange(first_, first_->next);
    if (!first_) last_ = nullptr;
    // Relaxed: a taker that still reads the old length takes the lock, and finds the list empty.
    listed_.store(listed_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    return 1;
  }

  std::mutex mutex_;
  Entry* first_ = nullptr;  // the first entry of the list; under mutex_ (GLOBAL-3)
  Entry* last_ = nullptr;
  std::atomic<std::size_t> listed_ = 0;  // the length of the list
  steal_queue<Entry*> queue_;            // owned by the thread that has mutex_ (GLOBAL-1)
};

}  // namespace weft::detail
