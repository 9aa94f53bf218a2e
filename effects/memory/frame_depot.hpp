// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

/// Memory on its way between the pools of threads (frame_pool.hpp).
namespace weft::detail {

/// Whether this file is compiled to keep blocks; in a program, the depot decides (POOL-3).
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

/// A free block in a list.
struct free_block {
  free_block* next;        // null in no_block only
  std::int64_t depth;      // the number of blocks in the list from this one on
  free_block* next_batch;  // in the first block of a batch: the depot's next batch
};
/// Sentinel that ends every free list, so that give() needs no null check.  Never written.
[[gnu::visibility("default")]] inline constinit free_block no_block{nullptr, 0, nullptr};

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

/// Memory of an arena, of any thread (frame_arena.hpp).
struct arena_range {
  std::byte* begin;
  std::size_t bytes;
  arena_range* next = nullptr;
};

/// Batches of free blocks on their way from one thread to another, and a list of the memory of all
/// arenas.  Thread safe.
class frame_depot {
 public:
  explicit constexpr frame_depot(bool keeps_blocks) noexcept : keeps_blocks_(keeps_blocks) {}

  /// Whether free blocks are kept (POOL-3).  If not, there are no batches.
  [[nodiscard]] bool keeps_blocks() const noexcept { return keeps_blocks_; }

  void put(std::size_t size, free_block* first) noexcept {
    std::lock_guard const lock(mutex_);
    first->next_batch = std::exchange(piles_[size], first);
  }
  /// Takes a batch; null if there is none.
  free_block* take(std::size_t size) noexcept {
    std::lock_guard const lock(mutex_);
    free_block* const first = piles_[size];
    if (first) piles_[size] = first->next_batch;
    return first;
  }
  /// Takes what an ending thread has left of its slab.  The largest such piece is kept, for the
  /// next thread that needs a slab.
  void put(slab_remainder r) noexcept {
    std::lock_guard const lock(mutex_);
    if (r.bytes() > remainder_.bytes()) remainder_ = r;
  }
  slab_remainder take_remainder() noexcept {
    std::lock_guard const lock(mutex_);
    return std::exchange(remainder_, {});
  }

  void add(arena_range& r) noexcept {
    std::lock_guard const lock(mutex_);
    r.next = std::exchange(arenas_, &r);
  }
  void remove(arena_range& r) noexcept {
    std::lock_guard const lock(mutex_);
    arena_range** link = &arenas_;
    while (*link != &r) link = &(*link)->next;
    *link = r.next;
  }
  /// Whether `block` is in an arena of any thread.  O(arenas).
  [[nodiscard]] bool contains(void const* block) noexcept {
    std::lock_guard const lock(mutex_);
    auto const* const at = static_cast<std::byte const*>(block);
    for (arena_range const* r = arenas_; r; r = r->next)
      if (r->begin <= at && at < r->begin + r->bytes) return true;
    return false;
  }

  void count(frame_count const& c) noexcept {
    std::lock_guard const lock(mutex_);
    ended_.births += c.births;
    ended_.deaths += c.deaths;
  }
  frame_count counted() noexcept {
    std::lock_guard const lock(mutex_);
    return ended_;
  }

 private:
  bool keeps_blocks_;  // does not change
  std::mutex mutex_;
  std::array<free_block*, block_sizes> piles_{};
  slab_remainder remainder_;
  arena_range* arenas_ = nullptr;
  frame_count ended_;  // by threads that have ended
};
[[gnu::visibility("default")]] inline constinit frame_depot depot(pooling);

}  // namespace weft::detail
