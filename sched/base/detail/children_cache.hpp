// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "weft/sched/base/process_id.hpp"

namespace weft::detail {

/// The ids of the children of one process.  As long as their numbers have as many digits (groups of
/// three bits) as the last one, an id costs a shift and an addition; else as process_id::child().
class children_cache {
 public:
  /// Whether child_of(parent, n) needs no computation.
  [[nodiscard, gnu::always_inline]] bool knows(process_id parent, std::uint64_t n) const noexcept {
    return parent == parent_ && n - first_ < count_;
  }
  /// parent.child(n).
  [[nodiscard, gnu::always_inline]] process_id child_of(process_id parent,
                                                        std::uint64_t n) noexcept {
    if (!knows(parent, n)) [[unlikely]]
      return find(parent, n);
    return known(n);
  }
  /// child_of(parent, n) if knows(parent, n).
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
  std::uint64_t base_ = 0;   // the id of the child 0, written with that many digits
  std::uint64_t first_ = 0;  // the least number with that many digits
  std::uint64_t count_ = 0;  // how many numbers have that many digits
  int shift_ = 0;
};

}  // namespace weft::detail
