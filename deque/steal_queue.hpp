// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <span>

#include "weft/deque/detail/steal_ends.hpp"
#include "weft/deque/taken.hpp"

namespace weft {

/// The memory orders of the accesses that have the labels [7] and [8] in a steal_queue.
struct steal_queue_orders : steal_orders {
  static constexpr auto sees_bottom = std::memory_order_acquire;  // [7] a take reads bottom
  static constexpr auto takes = std::memory_order_release;        // [8] a take moves top
};

/// The queue of a worker: the owner pushes at the bottom, and all threads, the owner too, take at
/// the top, first in, first out.  One compare-and-swap takes several items:
///
///     weft::steal_queue<task*> q;
///     q.push(&a);
///     std::array<task*, 16> batch;
///     for (std::size_t i = 0, n = q.take(batch); i != n; ++i) run(*batch[i]);
///     if (auto const n = others.take_half(batch)) ...  // a thief(q), on another thread
///
/// All operations but growth are lock-free.  A push is O(1); taking n items is O(n) and one
/// compare-and-swap.  Nothing but a larger array is ever allocated.  Used by the owner's thread
/// only, except through a thief.  When not to use it: where last in, first out will do.  A
/// chase_lev is cheaper for its owner, whose pop writes to top, as thieves do, only for the last
/// item.
///
/// STEAL-1 to STEAL-4 are in detail/steal_ends.hpp.
///   STEAL-6  No thread takes at the bottom: bottom only grows.  So the items between top and
///       bottom at some moment stay there as long as top does not change.  A thread that has read a
///       bottom of t + n or more, and moves top from t to t + n, has these n items, and no other
///       thread has one of them.
///
/// STEAL-6 does not hold for a chase_lev; so steal_half of a chase_lev steals one by one
/// (docs/decisions/011-stealing-half.md).
///
/// Source: the run queue of Go's scheduler (runtime/proc.go, runqgrab), with indices that do not
/// wrap around, and arrays that grow.
template <class T, class Orders = steal_queue_orders>
class basic_steal_queue : private detail::steal_ends<T, Orders> {
  using ends = detail::steal_ends<T, Orders>;
  using typename ends::index;

 public:
  /// The end that all other threads use.  It must not outlive the queue.  Thread safe.
  class thief {
   public:
    explicit thief(basic_steal_queue& from) noexcept : from_(&from) {}

    /// Takes all items, but at most out.size(), and returns how many.  `lost` if another thread
    /// took some during the call.
    [[nodiscard]] taken<std::size_t> take(std::span<T> out) const noexcept {
      return from_->try_take(out, 1);
    }
    /// Takes half of the items, but at least one, and at most out.size(); returns how many.  `lost`
    /// if another thread took some during the call.
    [[nodiscard]] taken<std::size_t> take_half(std::span<T> out) const noexcept {
      return from_->try_take(out, 2);
    }
    /// True only if the queue was empty at some moment of the call.  See publish().
    [[nodiscard]] bool is_empty() const noexcept { return from_->is_empty(); }
    /// The number of items, as a hint: it may be out of date.
    [[nodiscard]] std::size_t size() const noexcept { return from_->size(); }

   private:
    basic_steal_queue* from_;
  };

  /// Makes an empty queue with room for at least `room` items.  Throws std::bad_alloc.
  explicit basic_steal_queue(std::size_t room = 64) : ends(room) {}

  using ends::is_empty;
  using ends::publish;
  using ends::push;
  using ends::reserve;
  using ends::size;

  /// Takes all items, but at most out.size(), and returns how many.  Tries again if another thread
  /// took some during the attempt.
  [[nodiscard]] std::size_t take(std::span<T> out) noexcept {
    for (;;) {
      auto const n = try_take(out, 1);
      if (n) return *n;
      if (n.is_empty()) return 0;
    }
  }

 private:
  /// Takes the share 1/`one_in` of the items (1: all, 2: half): at least one if there is one, at
  /// most out.size().
  [[nodiscard]] taken<std::size_t> try_take(std::span<T> out, index one_in) noexcept {
    // Acquire: pairs with [8], by which another thread has moved top, so that bottom is read after
    // top.  If this value of top is out of date, the compare-and-swap [8] below fails.
    index t = this->top_.load(std::memory_order_acquire);
    // [7] acquire: pairs with [1] in push(), so the items below bottom are seen.
    index const b = this->bottom_.load(Orders::sees_bottom);
    if (b <= t || out.empty()) return missed::empty;
    index const share = (b - t) / one_in;
    index const room = std::ssize(out);
    index const n = share < 1 ? 1 : share < room ? share : room;
    // [4] acquire: pairs with [3] in make_room(), so the cells of the array are seen.
    auto const* const a = this->array_.load(Orders::sees_array);
    for (index i = 0; i != n; ++i) out[static_cast<std::size_t>(i)] = a->get(t + i);
    // [8] release: pairs with [2] in make_room(), so the cells are read here before the owner
    // writes them again.  Relaxed on failure: the values read are discarded.
    if (!this->top_.compare_exchange_strong(t, t + n, Orders::takes, std::memory_order_relaxed))
      return missed::lost;
    return static_cast<std::size_t>(n);
  }
};

/// The queue with the memory orders of steal_queue_orders.
template <class T>
using steal_queue = basic_steal_queue<T>;

}  // namespace weft
