// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "weft/effects/detail/compiler.hpp"

namespace weft::detail {

/// The cells of a chase_lev or steal_queue; their number is a power of two.  The array also owns
/// the smaller arrays that it replaced, since thieves may still read those.  Each array is at most
/// half as large as the next one, so all older arrays together are smaller than the newest.
///
/// Cells are atomic: a thief may read a cell while the owner writes it, and then discards the value
/// (STEAL-3).
template <class T>
class steal_array {
 public:
  using index = std::int64_t;

  /// Makes an array with room for at least `room` items.
  explicit steal_array(std::size_t room)
      : last_(static_cast<index>(std::bit_ceil(room)) - 1),
        cells_(std::make_unique<std::atomic<T>[]>(std::bit_ceil(room))) {}

  /// Replaces `old` by an array with at least `room` cells and the items [from, to), which keeps
  /// `old` alive.  If it throws std::bad_alloc, nothing has changed.
  static void replace(std::unique_ptr<steal_array>& old, std::size_t room, index from, index to) {
    auto larger = std::make_unique<steal_array>(room);
    for (index i = from; i != to; ++i) larger->put(i, old->get(i));
    larger->older_ = std::move(old);
    old = std::move(larger);
  }

  [[nodiscard]] index capacity() const noexcept { return last_ + 1; }

  // Relaxed: the accesses to top and bottom order those to a cell (STEAL-1 to STEAL-3).
  [[nodiscard]] T get(index i) const noexcept { return cell(i).load(std::memory_order_relaxed); }
  // Relaxed: as in get().
  void put(index i, T x) noexcept { cell(i).store(x, std::memory_order_relaxed); }
  /// Puts the results of n calls of next(), n >= 1, from index i on.
  template <class Next>
  void put_all(index i, std::size_t n, Next next) noexcept {
    std::atomic<T>* const cells = cells_.get();
    index const last = last_;
    for (;;) {
      cells[i++ & last].store(next(), std::memory_order_relaxed);  // relaxed: as in get()
      if (--n == 0) return;
      asm("" : "+r"(n));  // keeps the compiler from unrolling the loop: n is usually small
    }
  }

 private:
  [[nodiscard]] std::atomic<T>& cell(index i) const noexcept {
    return cells_[static_cast<std::size_t>(i & last_)];
  }

  index last_;  // capacity less one: a mask
  std::unique_ptr<std::atomic<T>[]> cells_;
  std::unique_ptr<steal_array> older_;
};

}  // namespace weft::detail
