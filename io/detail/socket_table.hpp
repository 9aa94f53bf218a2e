// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

#include "weft/io/detail/socket_place.hpp"

namespace weft::detail {

/// The places of a reactor.  They have stable addresses and live until the table is destroyed.
/// There are as many as there were sockets at once, rounded up to blocks of 64, 128, 256, ...
///
/// find() takes no lock: a published block stays.
class socket_table {
 public:
  socket_table() = default;
  socket_table(socket_table const&) = delete;
  socket_table& operator=(socket_table const&) = delete;
  ~socket_table() {
    // Relaxed: no other thread uses the table.
    for (std::size_t k = 0; k != blocks_.size(); ++k)
      if (socket_place* const b = blocks_[k].load(std::memory_order_relaxed)) drop(b, size_of(k));
  }

  /// Reserves a place.  Throws bad_alloc.
  [[nodiscard]] socket_place& take() {
    std::lock_guard const lock(mutex_);
    if (!free_) grow();
    socket_place& p = *free_;
    free_ = p.next_free;
    ++taken_;
    return p;
  }
  void give_back(socket_place& p) noexcept {
    std::lock_guard const lock(mutex_);
    p.next_free = free_;
    free_ = &p;
    --taken_;
  }
  /// Null if there never was such a place.
  [[nodiscard]] socket_place* find(std::uint32_t index) const noexcept {
    std::uint64_t const n = std::uint64_t{index} / first + 1;
    auto const k = static_cast<std::size_t>(std::bit_width(n) - 1);
    // [1] acquire: pairs with [2], so that the places are seen as constructed.
    socket_place* const b = blocks_[k].load(std::memory_order_acquire);
    return b ? b + (index - (size_of(k) - first)) : nullptr;
  }
  [[nodiscard]] std::size_t taken() const noexcept {
    std::lock_guard const lock(mutex_);
    return taken_;
  }

 private:
  static constexpr std::size_t first = 64;
  static constexpr std::size_t size_of(std::size_t block) noexcept { return first << block; }

  void grow() {
    std::size_t const n = size_of(count_);
    auto const begin = static_cast<std::uint32_t>(n - first);
    auto* const b = static_cast<socket_place*>(
        ::operator new(n * sizeof(socket_place), std::align_val_t(alignof(socket_place))));
    for (std::size_t i = n; i-- != 0;) {
      auto* const p = new (b + i) socket_place(begin + static_cast<std::uint32_t>(i));
      p->next_free = free_;
      free_ = p;
    }
    blocks_[count_++].store(b, std::memory_order_release);  // [2] release: pairs with [1]
  }
  static void drop(socket_place* b, std::size_t n) noexcept {
    std::destroy_n(b, n);
    ::operator delete(b, std::align_val_t(alignof(socket_place)));
  }

  mutable std::mutex mutex_;
  socket_place* free_ = nullptr;  // this and the next two: under mutex_
  std::size_t taken_ = 0;
  std::size_t count_ = 0;  // how many blocks there are
  // Enough blocks for every index.
  std::array<std::atomic<socket_place*>, 27> blocks_{};
};

}  // namespace weft::detail
