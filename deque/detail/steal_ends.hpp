// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "weft/deque/detail/steal_array.hpp"

namespace weft {

/// The requirements on an item of a chase_lev or steal_queue.
template <class T>
concept stealable = std::is_trivially_copyable_v<T> && std::default_initializable<T> &&
                    std::copyable<T> && std::atomic<T>::is_always_lock_free;

/// The memory orders of the accesses that have the labels [1] to [6], in both chase_lev and
/// steal_queue.
struct steal_orders {
  static constexpr auto publishes = std::memory_order_release;   // [1] a push stores bottom
  static constexpr auto sees_room = std::memory_order_acquire;   // [2] make_room() reads top
  static constexpr auto grows = std::memory_order_release;       // [3] make_room() stores array_
  static constexpr auto sees_array = std::memory_order_acquire;  // [4] a take reads array_
  static constexpr auto announces = std::memory_order_seq_cst;   // [5] publish() stores bottom
  static constexpr auto looks = std::memory_order_seq_cst;       // [6] is_empty() reads bottom
};

namespace detail {

/// The two ends of a chase_lev or steal_queue, and the array between them.
///
///   STEAL-1  The items are those with index i in [top, bottom); item i is in cell i modulo the
///       capacity of the array.  Indices have 64 bits and do not wrap around: that would take 200
///       years.  They are signed, since bottom may be one below top for a moment.
///   STEAL-2  Only the owner writes bottom.  top only grows, by compare-and-swap: the thread that
///       moves top gets the items that top passes.
///   STEAL-3  The owner writes to a cell again only when it has seen that top has passed the item
///       there [2].  So a slow thread may find another item in the cell that it reads.  But then
///       top has moved, the thread's compare-and-swap fails, and it takes nothing.
///   STEAL-4  Items are put into the newest array only; older arrays stay unchanged while the deque
///       lives.  A thread that reads bottom, and then the array, gets an array that has every item
///       that is below that bottom and that top has not passed.
template <class T, class Orders>
class steal_ends {
  static_assert(stealable<T>,
                "weft: an element that can be stolen is read while it may be overwritten: it must "
                "be trivially "
                "copyable, and its std::atomic lock-free, as that of a pointer is");

 public:
  steal_ends(steal_ends const&) = delete;
  steal_ends& operator=(steal_ends const&) = delete;

  /// Pushes at the bottom.  O(1), amortised: a full array is replaced by one twice as large.  If it
  /// throws std::bad_alloc, nothing has changed.
  void push(T x) {
    // Relaxed: only the owner writes bottom (STEAL-2) and the array.
    index const b = bottom_.load(std::memory_order_relaxed);
    if (b == full_at_) [[unlikely]]
      make_room(1);
    array_.load(std::memory_order_relaxed)->put(b, x);  // relaxed: as for bottom
    // [1] release: a thread that sees the item sees what the item points to, and the array; pairs
    // with the reads of bottom: [9] in steal() of chase_lev, [7] in try_take() of steal_queue.
    bottom_.store(b + 1, Orders::publishes);
  }
  /// Pushes the results of n calls of next(), n >= 1.  Returns false if there is no room for all of
  /// them; then nothing has changed.  O(n).
  template <class Next>
  [[nodiscard]] bool try_push_all(std::size_t n, Next next) noexcept {
    // Relaxed: only the owner writes bottom (STEAL-2) and the array.
    index const b = bottom_.load(std::memory_order_relaxed);
    if (static_cast<std::size_t>(full_at_ - b) < n) [[unlikely]]
      return false;
    array_.load(std::memory_order_relaxed)->put_all(b, n, next);  // relaxed: as for bottom
    // [1] release: publishes the items and the array, as in push().
    bottom_.store(b + static_cast<index>(n), Orders::publishes);
    return true;
  }

  /// Makes room for n more items, whose pushes will not throw.  Throws std::bad_alloc.
  void reserve(std::size_t n) {
    // Relaxed: only the owner writes bottom (STEAL-2).
    auto const room = static_cast<std::size_t>(full_at_ - bottom_.load(std::memory_order_relaxed));
    if (room < n) [[unlikely]]
      make_room(n);
  }

  /// Orders a push before the check for sleeping threads that follows: call it between the two.
  /// Suppose that another thread announces its sleep and then calls is_empty(), and that the
  /// check does not see the announcement; both the announcement and the check are seq_cst.  Then
  /// is_empty() sees the push (DEFECT-8).  Costs an `stlr` on ARM64, and on x86 a locked
  /// instruction, which a push alone does not need.  A fence would do, but ThreadSanitizer does not
  /// support fences.
  void publish() noexcept {
    // [5] seq_cst: pairs with [6] in is_empty(), which a thread calls before it sleeps.  If in the
    // single order of seq_cst operations this store comes before [6], then [6] sees the push.  If
    // this store comes after [6], hence after that thread's announcement, the check sees the
    // announcement.  Relaxed: only the owner writes bottom.
    bottom_.store(bottom_.load(std::memory_order_relaxed), Orders::announces);
  }

  /// True only if the deque or queue was empty at some moment of the call.  Thread safe.
  [[nodiscard]] bool is_empty() const noexcept {
    // Acquire: pairs with the compare-and-swaps of top ([10] of chase_lev, [8] of steal_queue).
    // So bottom is read after top, and is no older than the pushes of the items that top has
    // passed.  If this value of top is out of date, the result may be false although all items are
    // gone.
    index const t = top_.load(std::memory_order_acquire);
    return bottom_.load(Orders::looks) <= t;  // [6] seq_cst: pairs with [5] in publish()
  }
  /// The number of items, as a hint: it may be out of date.  Thread safe.
  [[nodiscard]] std::size_t size() const noexcept {
    index const t = top_.load(std::memory_order_relaxed);     // relaxed: a hint
    index const b = bottom_.load(std::memory_order_relaxed);  // relaxed: a hint
    return t < b ? static_cast<std::size_t>(b - t) : 0;
  }

 protected:
  using array = steal_array<T>;
  using index = typename array::index;
  static constexpr std::size_t line = 64;

  explicit steal_ends(std::size_t room)
      : newest_(std::make_unique<array>(room == 0 ? 1 : room)),
        array_(newest_.get()),
        full_at_(newest_->capacity()) {}
  ~steal_ends() = default;

  // Written by all threads that take items at the top.
  alignas(line) std::atomic<index> top_ = 0;  // the index of the oldest item; only grows (STEAL-2)
  // Both written by the owner only.
  alignas(line) std::atomic<index> bottom_ = 0;  // one past the newest item (STEAL-1)
  index top_seen_ = 0;                           // a value that top has reached

 private:
  /// Makes room for `n` more items.
  [[gnu::cold, gnu::noinline]] void make_room(std::size_t n) {
    // [2] acquire: pairs with the compare-and-swaps of top ([10] of chase_lev, [8] of
    // steal_queue).  A thread reads the cells of its items before it moves top; so those reads
    // happen before the owner writes the cells again.
    top_seen_ = top_.load(Orders::sees_room);
    index const b = bottom_.load(std::memory_order_relaxed);  // relaxed: only the owner writes it
    std::size_t const room = static_cast<std::size_t>(b - top_seen_) + n;
    if (n > most || room > most) throw std::bad_alloc();
    if (room > static_cast<std::size_t>(newest_->capacity())) {
      array::replace(newest_, room, top_seen_, b);
      // [3] release: pairs with [4] in steal() of chase_lev and in try_take() of steal_queue: a
      // thread that takes items sees the cells of the array (STEAL-4).
      array_.store(newest_.get(), Orders::grows);
    }
    full_at_ = top_seen_ + newest_->capacity();
  }

  static constexpr std::size_t most = std::size_t{1} << 62;  // a power of two that fits an index

  std::unique_ptr<array> newest_;

 protected:
  std::atomic<array*> array_;  // newest_, published to thieves

 private:
  index full_at_;  // how far bottom may rise: top_seen_ of the last make_room() plus capacity
};

}  // namespace detail
}  // namespace weft
