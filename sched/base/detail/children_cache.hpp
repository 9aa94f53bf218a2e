// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "weft/sched/base/process_id.hpp"

namespace weft::detail {

/// A cache for the ids of the children of one process.  If the number of a child has as many digits
/// (groups of three bits) as the last number that was looked up, its id costs a shift and an
/// addition; else it costs a call of process_id::child().
class children_cache {
 public:
  /// Whether child_of(parent, n) needs no computation.
  [[nodiscard, gnu::always_inline]] bool knows(process_id parent, std::uint64_t n) const noexcept {
    return parent == parent_ && n - first_ < count_;
  }
  /// Returns parent.child(n).
  [[nodiscard, gnu::always_inline]] process_id child_of(process_id parent,
                                                        std::uint64_t n) noexcept {
    if (!knows(parent, n)) [[unlikely]]
      return find(parent, n);
    return known(n);
  }
  /// Returns the id of the n-th child of the last parent.  Requires knows(parent, n).
  [[nodiscard, gnu::always_inline]] process_id known(std::uint64_t n) const noexcept {
    return process_id(base_ + (n << shift_));
  }

 private:
  [[gnu::noinline]] process_id find(process_id parent, std::uint64_t n) noexcept {
    process_id const id = parent.child(n);
    count_ = 0;
    if (id.is_hash()) return id;
    int const digits = process_id::groups_for(n);
    parent_ = parent;
    shift_ = parent.free_bits() - 4 * digits;
    base_ = id.path_ - (n << shift_);
    first_ = std::uint64_t{1} << 3 * (digits - 1);
    count_ = 7 * first_;
    return id;
  }

  process_id parent_;
  std::uint64_t base_ = 0;   // the id of child 0, with as many digits as the last number
  std::uint64_t first_ = 0;  // the least number with as many digits as the last one
  std::uint64_t count_ = 0;  // how many numbers have as many digits as the last one
  int shift_ = 0;
};

}  // namespace weft::detail
