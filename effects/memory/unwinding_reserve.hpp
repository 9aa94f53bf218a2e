// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace weft::detail {

/// Memory for an end_of_clause, and for the frame in which its process waits, while a dropped
/// resumption with an open scope in its frames is unwound.  The frames outside must not go on
/// before that (CLAUSE-1 of end_of_clause.hpp), so this reserve is used when the system has no
/// memory; only if no block of it is free, the program ends.
///
/// A few blocks of one size, in the program's own data.  Thread safe, lock-free.
class unwinding_reserve {
 public:
  /// A block; null if `bytes` is more than a block has, or if no block is left.
  [[nodiscard]] void* take(std::size_t bytes) noexcept {
    if (bytes > block_bytes) return nullptr;
    std::uint32_t taken = taken_.load(std::memory_order_relaxed);  // relaxed: [1] checks the value
    for (;;) {
      if (~taken == 0) return nullptr;
      std::uint32_t const first_free = ~taken & (taken + 1);
      // [1] acquire: pairs with [2] in give(), so the previous owner has finished with the block.
      // Relaxed on failure: the next attempt checks the value that was read.
      if (taken_.compare_exchange_weak(taken, taken | first_free, std::memory_order_acquire,
                                       std::memory_order_relaxed))
        return &memory_[static_cast<std::size_t>(std::countr_zero(first_free)) * block_bytes];
    }
  }
  /// Takes back a block.  False if `p` is none of the reserve's blocks.
  [[nodiscard]] bool give(void* p) noexcept {
    auto const at = reinterpret_cast<std::uintptr_t>(p);
    auto const first = reinterpret_cast<std::uintptr_t>(memory_.data());
    if (at < first || at >= first + memory_.size()) return false;
    // [2] release: pairs with [1] in take().  So this owner's accesses to the block happen before
    // those of the next owner.
    taken_.fetch_and(~(std::uint32_t{1} << ((at - first) / block_bytes)),
                     std::memory_order_release);
    return true;
  }

 private:
  static constexpr std::size_t block_bytes = 1024;
  static constexpr std::size_t blocks = 32;

  std::atomic<std::uint32_t> taken_ = 0;
  alignas(64) std::array<std::byte, blocks * block_bytes> memory_{};
};
[[gnu::visibility("default")]] inline constinit unwinding_reserve reserve_for_unwinding;

}  // namespace weft::detail
