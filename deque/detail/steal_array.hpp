// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace weft::detail {

/// The cells of what is stolen from, as many as a power of two, and the smaller arrays that were
/// there before: thieves may still read those.  Each is at most half as large as the next, so all
/// of them are smaller together than the newest.
///
/// Cells are atomic: a thief may read one that the owner is writing to, and then does not get what
/// it has read (STEAL-3).
template <class T>
class steal_array {
 public:
  using index = std::int64_t;

  /// For so many, or a few more.
  explicit steal_array(std::size_t room)
      : last_(static_cast<index>(std::bit_ceil(room)) - 1),
        cells_(std::make_unique<std::atomic<T>[]>(std::bit_ceil(room))) {}

  /// Puts in its place a larger one that keeps it, and has the items `from` to `to` of it.  Throws
  /// std::bad_alloc, and then nothing has happened.
  static void replace(std::unique_ptr<steal_array>& old, std::size_t room, index from, index to) {
    auto larger = std::make_unique<steal_array>(room);
    for (index i = from; i != to; ++i) larger->put(i, old->get(i));
    larger->older_ = std::move(old);
    old = std::move(larger);
  }

  [[nodiscard]] index capacity() const noexcept { return last_ + 1; }

  // Relaxed, both: bottom and top say what a cell holds and who may have it (STEAL-1 to STEAL-3).
  [[nodiscard]] T get(index i) const noexcept { return cell(i).load(std::memory_order_relaxed); }
  void put(index i, T x) noexcept { cell(i).store(x, std::memory_order_relaxed); }
  /// What next() gives, so many times, at least once: from i on.
  template <class Next>
  void put_all(index i, std::size_t n, Next next) noexcept {
    std::atomic<T>* const cells = cells_.get();
    index const last = last_;
    for (;;) {
      cells[i++ & last].store(next(), std::memory_order_relaxed);  // relaxed: as put
      if (--n == 0) return;
      asm("" : "+r"(n));  // not to be unrolled: most often they are few
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
