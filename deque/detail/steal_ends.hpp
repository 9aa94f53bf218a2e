// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "deque/detail/steal_array.hpp"

namespace weft {

/// What a cell of it can hold.
template <class T>
concept stealable = std::is_trivially_copyable_v<T> && std::default_initializable<T> &&
                    std::copyable<T> && std::atomic<T>::is_always_lock_free;

/// The memory orders of the labels that chase_lev and steal_queue have in common.
struct steal_orders {
  static constexpr auto publishes = std::memory_order_release;   // [1]
  static constexpr auto sees_room = std::memory_order_acquire;   // [2]
  static constexpr auto grows = std::memory_order_release;       // [3]
  static constexpr auto sees_array = std::memory_order_acquire;  // [4]
  static constexpr auto announces = std::memory_order_seq_cst;   // [5]
  static constexpr auto looks = std::memory_order_seq_cst;       // [6]
};

namespace detail {

/// The two ends of what is stolen from, and the array between them.
///
///   STEAL-1  The items from `top` to `bottom`, which is none of them, stand in it, item i in cell i of
///       the array, modulo its capacity.  Indices have 64 bits and never come round: that takes 200
///       years.  They are signed, since bottom may be one below top for a moment.
///   STEAL-2  bottom is the owner's alone to write.  top only grows, and by compare-and-swap: who moves
///       it has the items that it passes.
///   STEAL-3  The owner writes to a cell again when it has seen that top has passed the item that was
///       there [2].  Who reads something else there than the item it wants does not get the item:
///       top has moved by then.
///   STEAL-4  Items are put into the newest array only, and the older ones stay as they are as long as
///       the deque lives.  Who looks at bottom, and then for the array, finds one in which the
///       items below that bottom stand that top has not passed.
template <class T, class Orders>
class steal_ends {
  static_assert(
      stealable<T>,
      "weft: what can be stolen is read while it may be overwritten: it must be trivially "
      "copyable, and its std::atomic lock-free, as that of a pointer is");

 public:
  steal_ends(steal_ends const&) = delete;
  steal_ends& operator=(steal_ends const&) = delete;

  /// At the bottom.  O(1), amortised: an array that is full is replaced by one twice as large.
  /// Throws std::bad_alloc, and then nothing has happened.
  void push(T x) {
    // Relaxed: it is ours (STEAL-2); the array too.
    index const b = bottom_.load(std::memory_order_relaxed);
    if (b == full_at_) [[unlikely]]
      make_room(1);
    array_.load(std::memory_order_relaxed)->put(b, x);
    // [1] release: who sees the item there sees what it points at, and the array; pairs with the
    // looks at bottom: [9] of chase_lev, [7] of steal_queue.
    bottom_.store(b + 1, Orders::publishes);
  }
  /// What next() gives, so many times, at least once.  False if there is no room for them all, and
  /// then nothing has happened.  O(n).
  template <class Next>
  [[nodiscard]] bool try_push_all(std::size_t n, Next next) noexcept {
    // Relaxed, and [1]: as in push.
    index const b = bottom_.load(std::memory_order_relaxed);
    if (static_cast<std::size_t>(full_at_ - b) < n) [[unlikely]]
      return false;
    array_.load(std::memory_order_relaxed)->put_all(b, n, next);
    bottom_.store(b + static_cast<index>(n), Orders::publishes);
    return true;
  }

  /// Room for so many more, which will not throw.  Throws std::bad_alloc, as push does.
  void reserve(std::size_t n) {
    // Relaxed: as in push.
    auto const room = static_cast<std::size_t>(full_at_ - bottom_.load(std::memory_order_relaxed));
    if (room < n) [[unlikely]]
      make_room(n);
  }

  /// Between a push and a look, with seq_cst, at whether somebody sleeps who might want it: if that
  /// look does not see who announced before, with seq_cst, that it will sleep, its is_empty() sees
  /// what was pushed (seed-notes DEFECT-8).  One locked instruction on x86, and for who does not ask for
  /// it none.  A fence would do, but ThreadSanitizer does not know of fences.
  void publish() noexcept {
    // [5] seq_cst, with [6]: in their one order either this comes before the sleeper's look, and it
    // sees the push; or after it, hence after the announcement, and our look sees that.
    // Relaxed: it is ours.
    bottom_.store(bottom_.load(std::memory_order_relaxed), Orders::announces);
  }

  /// Whether there was nothing, at some moment.  Thread safe.
  [[nodiscard]] bool is_empty() const noexcept {
    // Relaxed: if it is older than bottom, there is said to be something that is gone.
    index const t = top_.load(std::memory_order_relaxed);
    return bottom_.load(Orders::looks) <= t;  // [6] seq_cst, with [5]
  }
  /// A hint: how many.  Thread safe.
  [[nodiscard]] std::size_t size() const noexcept {
    // Relaxed, both: a hint.
    index const t = top_.load(std::memory_order_relaxed);
    index const b = bottom_.load(std::memory_order_relaxed);
    return static_cast<std::size_t>(std::max<index>(0, b - t));
  }

 protected:
  using array = steal_array<T>;
  using index = typename array::index;
  static constexpr std::size_t line = 64;

  explicit steal_ends(std::size_t room)
      : newest_(std::make_unique<array>(std::max<std::size_t>(room, 1))),
        array_(newest_.get()),
        full_at_(newest_->capacity()) {}
  ~steal_ends() = default;

  // Who steals writes here,
  alignas(line) std::atomic<index> top_ = 0;  // STEAL-2
  // and the owner here.
  alignas(line) std::atomic<index> bottom_ = 0;  // STEAL-2
  index top_seen_ = 0;                           // the owner's: top is not less

 private:
  /// For `n` more.
  [[gnu::cold, gnu::noinline]] void make_room(std::size_t n) {
    // [2] acquire: who took what is passed has read its cell; pairs with the compare-and-swaps,
    // [10] of chase_lev and [8] of steal_queue.
    top_seen_ = top_.load(Orders::sees_room);
    index const b = bottom_.load(std::memory_order_relaxed);  // relaxed: it is ours
    std::size_t const room = static_cast<std::size_t>(b - top_seen_) + n;
    if (n > most || room > most) throw std::bad_alloc();
    if (room > static_cast<std::size_t>(newest_->capacity())) {
      array::replace(newest_, room, top_seen_, b);
      // [3] release: who finds it there [4] finds its cells (STEAL-4).
      array_.store(newest_.get(), Orders::grows);
    }
    full_at_ = top_seen_ + newest_->capacity();
  }

  static constexpr std::size_t most = std::size_t{1} << 62;  // a power of two that is an index

  std::unique_ptr<array> newest_;

 protected:
  std::atomic<array*> array_;  // newest_, for all to see

 private:
  index full_at_;  // top_seen_, at some time, and the capacity
};

}  // namespace detail
}  // namespace weft
