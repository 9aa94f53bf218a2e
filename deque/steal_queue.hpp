// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>

#include "deque/detail/steal_ends.hpp"
#include "deque/taken.hpp"

namespace weft {

/// The memory orders of the labels.
struct steal_queue_orders : steal_orders {
  static constexpr auto sees_bottom = std::memory_order_acquire;  // [7]
  static constexpr auto takes = std::memory_order_release;        // [8]
};

/// The queue of a worker: its owner pushes at the bottom, and everyone takes at the top, the owner
/// too, first in, first out.  Several are taken at once, by one compare-and-swap:
///
///     weft::steal_queue<task*> q;
///     q.push(&a);
///     std::array<task*, 16> batch;
///     for (std::size_t i = 0, n = q.take(batch); i != n; ++i) run(*batch[i]);
///     if (auto const n = others.take_half(batch)) ...  // a thief(q), on another thread
///
/// Everything is lock-free but growing.  A push is O(1), taking n is O(n) and one locked
/// instruction.  Nothing is allocated but larger arrays.  Where last in, first out will do, or is
/// wanted, a chase_lev pops without touching what thieves write to.
///
///   STEAL-1 to STEAL-4 are in detail/steal_ends.hpp.
///   STEAL-6  Nobody takes at the bottom: it only grows.  So what stood between top and bottom at some
///       moment stands there as long as top is the same; and who moves top from t to t + n, having
///       seen a bottom of t + n or more, has these n, and nobody else has one of them.
///
/// That is what the half of a chase_lev is not: docs/decisions/011-stealing-half.md.
///
/// Source: the run queue of Go's scheduler (runtime/proc.go, runqgrab), with indices that do not
/// come round, and arrays that grow.
template <class T, class Orders = steal_queue_orders>
class basic_steal_queue : private detail::steal_ends<T, Orders> {
  using ends = detail::steal_ends<T, Orders>;
  using typename ends::index;

 public:
  /// What those have who are not the owner.  Not longer than the queue lives.
  class thief {
   public:
    explicit thief(basic_steal_queue& from) noexcept : from_(&from) {}

    /// As many as there are, and as there is room for in `out`; how many.  `lost` if somebody else
    /// took some meanwhile.
    [[nodiscard]] taken<std::size_t> take(std::span<T> out) const noexcept {
      return from_->try_take(out, 1);
    }
    /// Half of what is there, at least one.
    [[nodiscard]] taken<std::size_t> take_half(std::span<T> out) const noexcept {
      return from_->try_take(out, 2);
    }
    /// Whether there was nothing, at some moment.  See publish().
    [[nodiscard]] bool is_empty() const noexcept { return from_->is_empty(); }
    /// A hint.
    [[nodiscard]] std::size_t size() const noexcept { return from_->size(); }

   private:
    basic_steal_queue* from_;
  };

  /// With room for so many, or a few more.  Throws std::bad_alloc.
  explicit basic_steal_queue(std::size_t room = 64) : ends(room) {}

  using ends::is_empty;
  using ends::publish;
  using ends::push;
  using ends::reserve;
  using ends::size;

  /// As many as there are, and as there is room for in `out`; how many.  It tries again when it
  /// loses: somebody else has some each time.
  [[nodiscard]] std::size_t take(std::span<T> out) noexcept {
    for (;;) {
      auto const n = try_take(out, 1);
      if (n) return *n;
      if (n.is_empty()) return 0;
    }
  }

 private:
  /// One in so many.
  [[nodiscard]] taken<std::size_t> try_take(std::span<T> out, index one_in) noexcept {
    // Relaxed: [8] makes sure.
    index t = this->top_.load(std::memory_order_relaxed);
    index const b = this->bottom_.load(Orders::sees_bottom);  // [7] acquire: with [1]
    index const n = std::min(std::max<index>((b - t) / one_in, 1), std::ssize(out));
    if (b <= t || n == 0) return missed::empty;
    // [4] acquire: with [3].
    auto const* const a = this->array_.load(Orders::sees_array);
    for (index i = 0; i != n; ++i) out[static_cast<std::size_t>(i)] = a->get(t + i);
    // [8] release: the cells are read before the owner may write there again [2].  Relaxed if it
    // fails: what was read is of no use.
    if (!this->top_.compare_exchange_strong(t, t + n, Orders::takes, std::memory_order_relaxed))
      return missed::lost;
    return static_cast<std::size_t>(n);
  }
};

template <class T>
using steal_queue = basic_steal_queue<T>;

}  // namespace weft
