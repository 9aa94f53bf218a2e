// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tests/sched/backends/as_written/pencil.hpp"

/// The deque of the pseudo-code in docs/appendix_pseudo_code_read_twice.md, as it is
/// written: wrong on purpose, and only for the tests.  The correct one is deque/chase_lev.hpp.
///
/// "The owner pushes/pops from the bottom (LIFO) without synchronization.  Thieves steal from the
/// top (FIFO) using CAS." That is sound. "StealHalfInto takes half the items in one CAS operation":
/// that is not.  The compare-and-swap proves that no other thief has stolen meanwhile, and nothing
/// about items that the owner has popped.
namespace weft::tests::as_written {

class deque {
 public:
  explicit deque(pencil const& p) : between_(p) {}

  void push(int item) {
    std::int64_t const b = bottom;
    if (b == static_cast<std::int64_t>(buffer.size())) buffer.push_back(0);
    buffer[static_cast<std::size_t>(b)] = item;
    bottom = b + 1;
  }

  std::optional<int> pop() {
    std::int64_t const b = bottom - 1;
    bottom = b;
    std::int64_t t = top;
    if (t > b) {
      bottom = b + 1;
      return std::nullopt;
    }
    int const item = buffer[static_cast<std::size_t>(b)];
    if (t != b) return item;  // "without synchronization"
    bool const won = top.compare_exchange_strong(t, t + 1);
    bottom = b + 1;
    if (!won) return std::nullopt;
    return item;
  }

  /// Returns the number of stolen items.
  int steal_half_into(std::vector<int>& mine) {
    std::int64_t t = top;
    between_("StealHalfInto has read top");
    std::int64_t const b = bottom;
    if (t >= b) return 0;
    std::int64_t const n = std::max<std::int64_t>((b - t) / 2, 1);
    std::vector<int> const copied(buffer.begin() + t, buffer.begin() + t + n);
    between_("StealHalfInto has copied");
    if (!top.compare_exchange_strong(t, t + n)) return 0;
    mine.insert(mine.end(), copied.begin(), copied.end());
    return static_cast<int>(n);
  }

  std::vector<int> buffer;  // as large as necessary: growing is not the defect
  std::atomic<std::int64_t> top = 0;
  std::atomic<std::int64_t> bottom = 0;

 private:
  pencil const& between_;
};

}  // namespace weft::tests::as_written
