// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <utility>

#include "weft/effects/detail/platform.hpp"
#include "weft/effects/memory/free_blocks.hpp"

/// Memory on its way between the pools of threads (frame_pool.hpp).
namespace weft::detail {

/// A chunk of the memory of an arena, which may belong to any thread (frame_arena.hpp).
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
  /// Takes over the rest of the slab of a thread that ends.  The depot keeps the largest such rest,
  /// for the next thread that needs a slab.
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
  static_mutex mutex_;
  std::array<free_block*, block_sizes> piles_{};
  slab_remainder remainder_;
  arena_range* arenas_ = nullptr;
  frame_count ended_;  // the counts of the threads that have ended
};
[[gnu::visibility("default")]] inline constinit frame_depot depot(pooling);

}  // namespace weft::detail
