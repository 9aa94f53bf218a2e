// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>

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
  ~socket_table();

  /// Reserves a place.  Throws bad_alloc.
  [[nodiscard]] socket_place& take();
  void give_back(socket_place& p) noexcept;
  /// The place with that index; null if there never was one.
  [[nodiscard]] socket_place* find(std::uint32_t index) const noexcept {
    std::uint64_t const n = std::uint64_t{index} / first + 1;
    auto const k = static_cast<std::size_t>(std::bit_width(n) - 1);
    // [1] acquire: pairs with [2] of socket_table.cpp, so that the places are seen as constructed.
    socket_place* const b = blocks_[k].load(std::memory_order_acquire);
    return b ? b + (index - (size_of(k) - first)) : nullptr;
  }
  [[nodiscard]] std::size_t taken() const noexcept;

 private:
  static constexpr std::size_t first = 64;
  static constexpr std::size_t size_of(std::size_t block) noexcept { return first << block; }

  void grow();

  mutable std::mutex mutex_;
  socket_place* free_ = nullptr;  // guarded by mutex_, as are the next two
  std::size_t taken_ = 0;
  std::size_t count_ = 0;  // how many blocks there are
  // Enough blocks for every index.
  std::array<std::atomic<socket_place*>, 27> blocks_{};
};

}  // namespace weft::detail
