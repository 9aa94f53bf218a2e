// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

namespace weft::detail {

/// What is ready and belongs to no worker: first in, first out.  `Entry` has a member `next`, which
/// is ours meanwhile.  Allocates nothing.  A lock, held for as long as it takes to unlink a batch.
///
///   G1  `length_` is written under the lock, and read without it by who looks before going to
///       sleep: seq_cst, as the look at a worker's deque is (idle_threads.hpp, I2).
template <class Entry>
class global_queue {
 public:
  void push(Entry& e) noexcept {
    e.next = nullptr;
    std::lock_guard const lock(mutex_);
    (last_ ? last_->next : first_) = &e;
    last_ = &e;
    // [1] seq_cst: G1.  Who pushes looks after it whether somebody sleeps.
    length_.store(length() + 1, std::memory_order_seq_cst);
  }
  /// The first one, and `others(e)` for so many more, in their order: but no more than a share of
  /// what there is, if others are to have theirs.  Null if there is none.
  template <class F>
  Entry* pop(std::size_t most_others, std::size_t sharers, F others) noexcept {
    if (length() == 0) return nullptr;
    Entry* batch = nullptr;
    std::size_t n = 0;
    {
      std::lock_guard const lock(mutex_);
      if (!first_) return nullptr;
      n = 1 + std::min(most_others, (length() - 1) / sharers);
      batch = first_;
      Entry* last = batch;
      for (std::size_t i = 1; i != n; ++i) last = last->next;
      first_ = last->next;
      if (!first_) last_ = nullptr;
      // Relaxed: who looks too early finds it empty under the lock.
      length_.store(length() - n, std::memory_order_relaxed);
    }
    Entry* e = batch->next;
    for (std::size_t i = 1; i != n; ++i) others(*std::exchange(e, e->next));
    return batch;
  }
  [[nodiscard]] bool is_empty() const noexcept {
    return length_.load(std::memory_order_seq_cst) == 0;  // [2] seq_cst: G1, with [1]
  }
  /// A hint.
  [[nodiscard]] std::size_t length() const noexcept {
    return length_.load(std::memory_order_relaxed);  // relaxed: it is; or under the lock
  }

 private:
  std::mutex mutex_;
  Entry* first_ = nullptr;
  Entry* last_ = nullptr;
  std::atomic<std::size_t> length_ = 0;
};

}  // namespace weft::detail
