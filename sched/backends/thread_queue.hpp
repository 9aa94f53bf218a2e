// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <utility>

#include "sched/backends/sharing_state.hpp"

namespace weft {

/// What a process needs to stand in a thread_queue.
struct queue_entry {
  queue_entry* next = nullptr;               // QUEUE-2
  queue_entry* previous = nullptr;           // QUEUE-2
  std::atomic<void const*> owner = nullptr;  // QUEUE-3: the queue
  sharing_state_word state{sharing_state::running};
};

namespace detail {
/// Stands at the head of each queue that is locked.  Never an entry.
[[gnu::visibility("default")]] inline constinit queue_entry locked_queue;
}  // namespace detail

/// Entries on their way from one queue to another: nobody else's.
struct entry_chain {
  queue_entry* first = nullptr;
  queue_entry* last = nullptr;
  unsigned length = 0;

  [[nodiscard]] queue_entry& pop() noexcept {
    queue_entry& e = *first;
    first = std::exchange(e.next, nullptr);
    if (first) first->previous = nullptr;
    --length;
    return e;
  }
};

/// The memory orders of the labels.
struct queue_orders {
  static constexpr auto claims = std::memory_order_seq_cst;      // [1]
  static constexpr auto gives_back = std::memory_order_release;  // [2]
  static constexpr auto looks = std::memory_order_seq_cst;       // [3]
};

/// The queue of ready processes that a thread of seed 000 has: a doubly linked list through them,
/// first in, first out, from which others may take, also out of the middle.  Its head is its lock:
/// a word that is null, the first entry, or a sentinel that says that somebody works on it.
///
/// Nobody waits here.  What finds the queue locked says so, and the caller may look elsewhere: so
/// the answers are threefold, where the seed has one null for "empty" and for "locked".
///
///   QUEUE-1  Who swaps the head for the sentinel has claimed the queue, until it stores a head again.
///   QUEUE-2  tail, length, next and previous are written under the claim only.
///   QUEUE-3  An entry stands in one queue at most, and `owner` says in which.  Written under its claim.
///   QUEUE-4  An entry becomes `running` under the claim under which it leaves: it can be taken out as
///       long as it stands there, and by one.  Those that move in a chain are still `queued`, and
///       nobody's: claimed by none.
///   QUEUE-5  Moving by `try_share` and `try_prepend`, nobody gets a later place.
///
/// Every operation is O(1) but `try_share`, which is O(n), and allocates nothing.  Thread safe.
///
/// Source: seed 000, class Thread, corrected as chapter 9 says (DEFECT-2, DEFECT-3).
template <class Orders = queue_orders>
class basic_thread_queue {
 public:
  enum class entered { locked, was_empty, had_some };
  enum class removal { locked, not_here, removed };

  /// What a look for an entry came to.
  class found {
   public:
    [[nodiscard]] bool is_locked() const noexcept { return entry_ == sentinel(); }
    [[nodiscard]] bool is_empty() const noexcept { return entry_ == nullptr; }
    /// Of one that is neither.
    [[nodiscard]] queue_entry& entry() const noexcept { return *entry_; }

   private:
    friend class basic_thread_queue;
    explicit found(queue_entry* e) noexcept : entry_(e) {}
    queue_entry* entry_;
  };

  basic_thread_queue() = default;
  basic_thread_queue(basic_thread_queue const&) = delete;
  basic_thread_queue& operator=(basic_thread_queue const&) = delete;

  /// At the end.  `e` is queued already.
  [[nodiscard]] entered try_enqueue(queue_entry& e) noexcept {
    queue_entry* const head = claim();
    if (head == sentinel()) return entered::locked;
    append(head, e);
    give_back(head ? head : &e);
    return head ? entered::had_some : entered::was_empty;
  }

  /// The first one, which is running now.
  [[nodiscard]] found try_dequeue() noexcept {
    queue_entry* const head = claim_some();
    if (!head || head == sentinel()) return found(head);
    give_back(take_first(*head));
    return found(head);
  }

  /// That one, wherever it stands here; it is running then.
  [[nodiscard]] removal try_dequeue_entry(queue_entry& e) noexcept {
    queue_entry* const head = claim_some();
    if (head == sentinel()) return removal::locked;
    if (!head) return removal::not_here;
    // Relaxed: if it says that this is the queue, it was written under an earlier claim.
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

  /// try_enqueue(e) and then try_dequeue(), under one claim.  `e` itself if it would be alone.
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

  /// The first ones, `most` of them if there are that many, still queued.  False if it is locked.
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
  /// In front of all others (QUEUE-5).  False if it is locked.
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

  /// For one who has announced that it will sleep: whether there is nothing, and nobody at work.
  [[nodiscard]] bool is_empty() const noexcept {
    // [3] seq_cst, with [1]: it comes after the announcement, as an enqueuer's look for sleepers
    // comes after its claim.  One of the two sees the other.
    return head_.load(Orders::looks) == nullptr;
  }
  /// A hint: how many stand here.
  [[nodiscard]] unsigned length() const noexcept {
    return length_.load(std::memory_order_relaxed);  // relaxed: a hint, and exact under the claim
  }

 private:
  static queue_entry* sentinel() noexcept { return &detail::locked_queue; }

  /// The head, which is ours to store again (QUEUE-1); or the sentinel.
  [[nodiscard]] queue_entry* claim() noexcept {
    queue_entry* head = head_.load(std::memory_order_relaxed);  // relaxed: [1] makes sure
    do
      if (head == sentinel()) return head;
    // [1] acquire: what the one before us did under its claim [2] is done.  seq_cst: as [3] says.
    while (
        !head_.compare_exchange_weak(head, sentinel(), Orders::claims, std::memory_order_relaxed));
    return head;
  }
  /// The same, or null: if there is none, nothing is claimed.
  [[nodiscard]] queue_entry* claim_some() noexcept {
    queue_entry* head = head_.load(std::memory_order_relaxed);  // as in claim()
    do
      if (!head || head == sentinel()) return head;
    while (
        !head_.compare_exchange_weak(head, sentinel(), Orders::claims, std::memory_order_relaxed));
    return head;
  }
  void give_back(queue_entry* head) noexcept {
    head_.store(head, Orders::gives_back);  // [2] release: the next claim [1] sees what we did
  }

  // ---- under the claim

  void append(queue_entry* head, queue_entry& e) noexcept {
    own(e);
    e.previous = head ? tail_ : nullptr;
    if (head) tail_->next = &e;
    tail_ = &e;
    count(length() + 1);
  }
  /// The head leaves.  Who is the head now.
  [[nodiscard]] queue_entry* take_first(queue_entry& head) noexcept {
    queue_entry* const next = head.next;
    (next ? next->previous : tail_) = nullptr;
    leave(head);
    return next;
  }
  void leave(queue_entry& e) noexcept {
    disown(e);
    e.next = e.previous = nullptr;
    e.state.move(sharing_state::running);  // QUEUE-4
    count(length() - 1);
  }
  // Relaxed: the claim orders them (QUEUE-3).
  void own(queue_entry& e) noexcept { e.owner.store(this, std::memory_order_relaxed); }
  void disown(queue_entry& e) noexcept { e.owner.store(nullptr, std::memory_order_relaxed); }
  void count(unsigned n) noexcept { length_.store(n, std::memory_order_relaxed); }

  std::atomic<queue_entry*> head_ = nullptr;  // QUEUE-1
  queue_entry* tail_ = nullptr;               // QUEUE-2; null if there is no head
  std::atomic<unsigned> length_ = 0;          // QUEUE-2
};
using thread_queue = basic_thread_queue<>;

}  // namespace weft
