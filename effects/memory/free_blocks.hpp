// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// Free blocks of memory: their sizes and their layout (frame_pool.hpp).
namespace weft::detail {

/// Whether the source file that includes this is compiled to keep freed blocks: not with
/// AddressSanitizer.  If a program has files of both kinds, the depot decides for all (POOL-3).
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool pooling = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool pooling = false;
#else
inline constexpr bool pooling = true;
#endif
#else
inline constexpr bool pooling = true;
#endif

/// How many blocks, for frames, prompts and other objects, were allocated (births) and freed
/// (deaths).  For tests.
struct frame_count {
  std::int64_t births = 0;
  std::int64_t deaths = 0;
  [[nodiscard]] std::int64_t alive() const noexcept { return births - deaths; }
};

/// A free block in a list.  It has the addresses of further free blocks, as many as fit, so that
/// these are found without a read of each block, which would be a cache miss each time.
struct free_block {
  free_block* next;        // null in no_block only
  free_block* next_batch;  // in the first block of a batch in frame_depot: the next batch there
  std::uint32_t depth;     // the number of blocks in the list from this one on
  std::uint32_t others;    // how many addresses follow

  [[nodiscard]] void*& other(std::uint32_t i) noexcept {
    return reinterpret_cast<void**>(this + 1)[i];
  }
  /// How many addresses fit in a block of that many bytes.
  static constexpr std::uint32_t room(std::size_t bytes) noexcept {
    return static_cast<std::uint32_t>((bytes - sizeof(free_block)) / sizeof(void*));
  }
};
/// Sentinel that ends every list.  Never written.
[[gnu::visibility("default")]] inline constinit free_block no_block{nullptr, nullptr, 0, 0};

/// The unused part of a slab (POOL-2).
struct slab_remainder {
  std::byte* at = nullptr;
  std::byte* end = nullptr;
  [[nodiscard]] std::size_t bytes() const noexcept { return static_cast<std::size_t>(end - at); }
  /// Skips to the next multiple of `to`, a power of two.
  void align(std::size_t to) noexcept {
    auto const lost = static_cast<std::size_t>(-reinterpret_cast<std::uintptr_t>(at)) & (to - 1);
    at = lost < bytes() ? at + lost : end;
  }
};

/// Size classes of blocks: in steps of 16 bytes, from 256 on in cache lines, up to 4 KB.
struct block_size {
  static constexpr std::size_t grain = 16;
  static constexpr std::size_t line = 64;
  static constexpr std::size_t small = 256;
  static constexpr std::size_t most = 4096;

  /// The least class with room for `bytes`; `block_sizes` or more if there is none.
  [[nodiscard]] static constexpr std::size_t of(std::size_t bytes) noexcept {
    if (bytes > small) return small / grain + (bytes - small + line - 1) / line;
    return ((bytes < sizeof(free_block) ? sizeof(free_block) : bytes) + grain - 1) / grain;
  }
  [[nodiscard]] static constexpr std::size_t bytes(std::size_t size) noexcept {
    return size <= small / grain ? size * grain : small + (size - small / grain) * line;
  }
};
inline constexpr std::size_t block_sizes = block_size::of(block_size::most) + 1;

}  // namespace weft::detail
