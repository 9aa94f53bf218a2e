// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <utility>

#include "weft/sched/backends/detail/sharing_state.hpp"

namespace weft::detail {

/// The links of a process that is in a thread_queue.
struct queue_entry {
  queue_entry* next = nullptr;                       ///< The entry behind this one (QUEUE-2).
  queue_entry* previous = nullptr;                   ///< The entry in front of this one (QUEUE-2).
  std::atomic<void const*> owner = nullptr;          ///< The entry's queue, or null (QUEUE-3).
  sharing_state_word state{sharing_state::running};  ///< The state of the process.
};

/// The sentinel: the head of each queue that is claimed.  It is never an entry.
[[gnu::visibility("default")]] inline constinit queue_entry locked_queue;

/// Entries on their way from one queue to another, linked as in a queue.  Only one thread uses
/// them.
struct entry_chain {
  queue_entry* first = nullptr;  ///< The first entry, or null.
  queue_entry* last = nullptr;   ///< The last entry, or null.
  unsigned length = 0;           ///< How many entries there are.

  /// Removes the first entry.  Requires that there is one.
  [[nodiscard]] queue_entry& pop() noexcept {
    queue_entry& e = *first;
    first = std::exchange(e.next, nullptr);
    if (first) first->previous = nullptr;
    --length;
    return e;
  }
};

/// The memory orders at the labels [1] to [3]: a parameter, so that tests can weaken them.
struct queue_orders {
  static constexpr auto claims = std::memory_order_seq_cst;      // [1]
  static constexpr auto gives_back = std::memory_order_release;  // [2]
  static constexpr auto looks = std::memory_order_seq_cst;       // [3]
};

/// The ready processes of a thread: a doubly linked list of their headers, first in, first out,
/// from which other threads may take, also from the middle.  The head of the list is also its lock:
/// a word that is null, the address of the first entry, or the address of a sentinel, which says
/// that a thread has claimed the queue.
///
/// No operation waits.  An operation that finds the queue claimed says so, and the caller may try
/// another queue.  So results have three values, whereas the pseudo-code of appendix A returns null
/// both for "empty" and for "locked".
///
///   QUEUE-1  A thread that swaps the head for the sentinel has claimed the queue, until it stores
///       a head again.
///   QUEUE-2  The members tail, length, next and previous are written under the claim only.
///   QUEUE-3  An entry is in at most one queue, and `owner` says in which.  A thread writes `owner`
///       only while it has claimed that queue.
///   QUEUE-4  An entry that leaves a queue to run becomes `running` under the same claim.  So any
///       thread can take it out while it is in the queue, and only one does.  Entries that move in
///       a chain are still `queued`, but in no queue: no other thread can take them out.
///   QUEUE-5  An entry that is moved, by `try_share` and `try_prepend`, gets no later place.
///
/// Every operation is O(1), except that `try_share` and `try_prepend` are O(n) in the entries that
/// they move.  No operation allocates.  Thread safe.
///
/// Source: class Thread of docs/appendix_pseudo_code_read_twice.md, as corrected there (DEFECT-2,
/// DEFECT-3).
template <class Orders = queue_orders>
class basic_thread_queue {
 public:
  /// The result of adding an entry.
  enum class entered {
    locked,     ///< Nothing was added: another thread has claimed the queue.
    was_empty,  ///< The entry is the only one.
    had_some    ///< There were entries before.
  };
  /// The result of removing a given entry.
  enum class removal {
    locked,    ///< Nothing was removed: another thread has claimed the queue.
    not_here,  ///< The entry is not in this queue.
    removed    ///< The entry was removed.
  };

  /// The result of an operation that takes an entry.
  class found {
   public:
    /// Whether another thread has claimed the queue.
    [[nodiscard]] bool is_locked() const noexcept { return entry_ == sentinel(); }
    /// Whether the queue was empty.
    [[nodiscard]] bool is_empty() const noexcept { return entry_ == nullptr; }
    /// The entry.  Call it only if the result is neither locked nor empty.
    [[nodiscard]] queue_entry& entry() const noexcept { return *entry_; }

   private:
    friend class basic_thread_queue;
    explicit found(queue_entry* e) noexcept : entry_(e) {}
    queue_entry* entry_;
  };

  basic_thread_queue() = default;
  basic_thread_queue(basic_thread_queue const&) = delete;
  basic_thread_queue& operator=(basic_thread_queue const&) = delete;

  /// Appends `e`, which is `queued` already.
  [[nodiscard]] entered try_enqueue(queue_entry& e) noexcept {
    queue_entry* const head = claim();
    if (head == sentinel()) return entered::locked;
    append(head, e);
    give_back(head ? head : &e);
    return head ? entered::had_some : entered::was_empty;
  }

  /// Removes the first entry, which is then `running`.
  [[nodiscard]] found try_dequeue() noexcept {
    queue_entry* const head = claim_some();
    if (!head || head == sentinel()) return found(head);
    give_back(take_first(*head));
    return found(head);
  }

  /// Removes that entry, wherever it is in this queue; it is then `running`.
  [[nodiscard]] removal try_dequeue_entry(queue_entry& e) noexcept {
    queue_entry* const head = claim_some();
    if (head == sentinel()) return removal::locked;
    if (!head) return removal::not_here;
    // Relaxed: `owner` starts and ceases to name this queue only under its claim (QUEUE-3).
    if (e.owner.load(std::memory_order_relaxed) != this) {
      give_back(head);
      return removal::not_here;
    }
    if (head == &e) {
      give_back(take_first(e));
    } else {
      e.previous->next = e.next;
      (e.next ? e.next->previous : tail_) = e.previous;
      leave(e);
      give_back(head);
    }
    return removal::removed;
  }

  /// Appends `e` and removes the first entry, under one claim.  Returns `e` itself if the queue is
  /// empty.
  [[nodiscard]] found try_exchange(queue_entry& e) noexcept {
    queue_entry* const head = claim_some();
    if (head == sentinel()) return found(head);
    if (!head) {
      e.state.move(sharing_state::running);
      return found(&e);
    }
    append(head, e);
    give_back(take_first(*head));
    return found(head);
  }

  /// Moves the first entries, at most `most`, to `chain`; they are still `queued`.  False if the
  /// queue is claimed.
  [[nodiscard]] bool try_share(unsigned most, entry_chain& chain) noexcept {
    queue_entry* const head = claim_some();
    if (head == sentinel()) return false;
    if (!head) return true;
    queue_entry* last = head;
    disown(*last);
    for (chain.length = 1; chain.length != most && last->next; ++chain.length)
      disown(*(last = last->next));
    queue_entry* const rest = std::exchange(last->next, nullptr);
    (rest ? rest->previous : tail_) = nullptr;
    chain.first = head;
    chain.last = last;
    count(length() - chain.length);
    give_back(rest);
    return true;
  }
  /// Puts the chain in front of all entries of this queue (QUEUE-5).  False if the queue is
  /// claimed.
  [[nodiscard]] bool try_prepend(entry_chain const& chain) noexcept {
    queue_entry* const head = claim();
    if (head == sentinel()) return false;
    for (queue_entry* e = chain.first; e; e = e->next) own(*e);
    chain.last->next = head;
    (head ? head->previous : tail_) = chain.last;
    count(length() + chain.length);
    give_back(chain.first);
    return true;
  }

  /// Whether the queue is empty and not claimed.  For a thread that has announced that it will
  /// sleep.
  [[nodiscard]] bool is_empty() const noexcept {
    // [3] seq_cst: pairs with [1].  A thread announces its sleep, then loads the head here; an
    // enqueuer claims the queue [1], then checks for sleepers.  So at least one of the two sees
    // what the other has written.
    return head_.load(Orders::looks) == nullptr;
  }
  /// A hint: how many entries there are.
  [[nodiscard]] unsigned length() const noexcept {
    return length_.load(std::memory_order_relaxed);  // relaxed: a hint, and exact under the claim
  }

 private:
  static queue_entry* sentinel() noexcept { return &locked_queue; }

  /// Claims the queue and returns its head, which the caller must store again (QUEUE-1).  Returns
  /// the sentinel if another thread has claimed the queue.
  [[nodiscard]] queue_entry* claim() noexcept {
    // Relaxed: the exchange [1] checks the head.
    queue_entry* head = head_.load(std::memory_order_relaxed);
    do
      if (head == sentinel()) return head;
    // [1] acquire: pairs with the release [2] of the claim before.  seq_cst: pairs with [3] in
    // is_empty().
    while (
        !head_.compare_exchange_weak(head, sentinel(), Orders::claims, std::memory_order_relaxed));
    return head;
  }
  /// Claims the queue like claim(), if it has entries.  Else claims nothing and returns null.
  [[nodiscard]] queue_entry* claim_some() noexcept {
    // Relaxed: the exchange [1] checks the head.
    queue_entry* head = head_.load(std::memory_order_relaxed);
    do
      if (!head || head == sentinel()) return head;
    // [1] as in claim(): the acquire pairs with the release [2] of the claim before.
    while (
        !head_.compare_exchange_weak(head, sentinel(), Orders::claims, std::memory_order_relaxed));
    return head;
  }
  void give_back(queue_entry* head) noexcept {
    head_.store(head, Orders::gives_back);  // [2] release: pairs with [1] of the next claim
  }

  // ---- under the claim

  void append(queue_entry* head, queue_entry& e) noexcept {
    own(e);
    e.previous = head ? tail_ : nullptr;
    if (head) tail_->next = &e;
    tail_ = &e;
    count(length() + 1);
  }
  /// Removes the head.  Returns the new head, or null.
  [[nodiscard]] queue_entry* take_first(queue_entry& head) noexcept {
    queue_entry* const next = head.next;
    (next ? next->previous : tail_) = nullptr;
    leave(head);
    return next;
  }
  void leave(queue_entry& e) noexcept {
    disown(e);
    e.next = e.previous = nullptr;
    e.state.move(sharing_state::running);  // still under the claim (QUEUE-4)
    count(length() - 1);
  }
  // Relaxed: the claim orders the writes of `owner` (QUEUE-3).
  void own(queue_entry& e) noexcept { e.owner.store(this, std::memory_order_relaxed); }
  // Relaxed: the claim orders the writes of `owner` (QUEUE-3).
  void disown(queue_entry& e) noexcept { e.owner.store(nullptr, std::memory_order_relaxed); }
  // Relaxed: length_ is a hint, and exact under the claim.
  void count(unsigned n) noexcept { length_.store(n, std::memory_order_relaxed); }

  std::atomic<queue_entry*> head_ = nullptr;  // null, the first entry or the sentinel (QUEUE-1)
  queue_entry* tail_ = nullptr;               // null if the queue is empty (QUEUE-2)
  std::atomic<unsigned> length_ = 0;          // written under the claim (QUEUE-2)
};
/// The queue with the memory orders that are right for it.
using thread_queue = basic_thread_queue<>;

}  // namespace weft::detail
