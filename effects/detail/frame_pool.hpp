// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "effects/detail/frame_depot.hpp"

/// Memory for frames and prompts: lists of free blocks by size, a set of them a thread.
///
///   M1  A thread has two lists of a size: one that it takes from and gives to, and a spare one,
///       which is taken from when the first is empty.  Every `credit` deaths the first becomes the
///       spare one; a spare one that is still there goes to the depot, which all threads share and
///       from where empty lists are filled.  A list that has been through that three times, or
///       comes from the depot, is cut instead: `credit` blocks stay.  So a list holds at most 4 *
///       credit blocks, and what is born on one thread and dies on another goes round and does not
///       grow.
///   M2  Blocks are cut from slabs, one behind the other, since malloc would take 16 bytes more for
///       each: a fifth of a waiting process.  So none goes back to the system: what has been
///       memory for frames at the peak stays that.  Blocks of over 1 KB come from the system.
///   M3  Under AddressSanitizer nothing is kept, so that a use after death is seen.
namespace weft::detail {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool pooling = false;  // M3
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool pooling = false;
#else
inline constexpr bool pooling = true;
#endif
#else
inline constexpr bool pooling = true;
#endif

/// A thread's free blocks.
class frame_pool {
 public:
  void* take(std::size_t bytes) {
    std::size_t const size = size_of(bytes);
    if (!pooling || size >= block_sizes) [[unlikely]]
      return from_system(bytes);
    shelf& s = shelves_[size];
    if (!s.first) [[unlikely]]
      return restock(size);
    return std::exchange(s.first, s.first->next);
  }
  void give(void* p, std::size_t bytes) noexcept {
    std::size_t const size = size_of(bytes);
    if (!pooling || size >= block_sizes) [[unlikely]]
      return to_system(p);
    shelf& s = shelves_[size];
    if (s.credit == 0) [[unlikely]]
      if (!renew_credit(size)) return to_depot(p, size);
    --s.credit;
    auto* const block = ::new (p) free_block;
    block->next = std::exchange(s.first, block);
  }
  void* take_aligned(std::size_t bytes, std::align_val_t alignment) {
    void* const block = ::operator new(bytes, alignment);
    ++blocks_;
    return block;
  }
  void give_aligned(void* p, std::align_val_t alignment) noexcept {
    ++deaths_;
    --blocks_;
    ::operator delete(p, alignment);
  }
  /// O(blocks in our lists): counting every birth would cost a call a tenth.
  [[nodiscard]] frame_count count() const noexcept {
    std::int64_t deaths = deaths_;
    std::int64_t alive = blocks_;
    for (auto const& s : shelves_) {
      deaths -= s.credit;
      alive -= free_block::count(s.first) + free_block::count(s.spare);
    }
    return {deaths + alive, deaths};
  }

  /// The thread ends: everything to the depot, and what still comes.
  void close() noexcept {
    closed_ = true;
    depot.count(count());
    blocks_ = deaths_ = 0;
    for (std::size_t size = 0; size != block_sizes; ++size)
      for (auto* const list : {shelves_[size].first, shelves_[size].spare})
        if (list) depot.put(size, list);
    shelves_ = {};
    depot.put(std::exchange(slab_, {}));
  }

 private:
  static constexpr std::size_t grain = 16;
  /// M1, as a number of blocks.
  static constexpr unsigned credit_of(std::size_t size) noexcept {
    return static_cast<unsigned>(256 * 1024 / (size * grain + grain));
  }
  static constexpr unsigned char most_rounds = 2;  // M1: then it is cut
  struct shelf {
    free_block* first = nullptr;
    free_block* spare = nullptr;
    unsigned char rounds = 0;  // M1: of first, and of spare
    unsigned char spare_rounds = 0;
    unsigned credit = 0;  // deaths until we look; at first none, so that we hear of the first
  };

  static constexpr std::size_t size_of(std::size_t bytes) noexcept {
    return (bytes + grain - 1) / grain;
  }
  void* restock(std::size_t size);
  bool renew_credit(std::size_t size) noexcept;
  void* cut(std::size_t size);
  void to_depot(void* p, std::size_t size) noexcept;
  void* from_system(std::size_t bytes);
  void to_system(void* p) noexcept;

  std::array<shelf, block_sizes> shelves_{};
  slab_rest slab_;           // M2
  std::int64_t blocks_ = 0;  // got from the system and the depot, less those that went there
  std::int64_t deaths_ = 0;  // with those that there is credit for
  bool closed_ = false;
};
inline thread_local constinit frame_pool frames;

/// Closes the pool when its thread ends.  Apart from it: a thread_local with a destructor costs
/// each access a check.
struct closes_frames {
  ~closes_frames() { frames.close(); }
};
inline void close_frames_at_the_end() {
  static thread_local closes_frames const at_the_end;
  (void)at_the_end;
}

[[gnu::noinline]] inline void* frame_pool::from_system(std::size_t bytes) {
  close_frames_at_the_end();
  void* const block = ::operator new(bytes);
  ++blocks_;
  if (closed_) close();
  return block;
}
[[gnu::noinline]] inline void frame_pool::to_system(void* p) noexcept {
  close_frames_at_the_end();
  ++deaths_;
  --blocks_;
  if (closed_) close();
  ::operator delete(p);
}

[[gnu::noinline]] inline void frame_pool::to_depot(void* p, std::size_t size) noexcept {
  ++deaths_;
  --blocks_;
  auto* const block = ::new (p) free_block;
  block->next = nullptr;
  depot.put(size, block);
  if (closed_) close();
}

[[gnu::noinline]] inline void* frame_pool::cut(std::size_t size) {
  static constexpr std::size_t slab_bytes = 64 * 1024;
  close_frames_at_the_end();
  std::size_t const bytes = size * grain;
  if (slab_.bytes() < bytes) slab_ = depot.take_rest();
  if (slab_.bytes() < bytes) {
    auto* const slab = static_cast<std::byte*>(::operator new(slab_bytes));
    slab_ = {slab, slab + slab_bytes};
  }
  void* const block = std::exchange(slab_.at, slab_.at + bytes);
  ++blocks_;
  if (closed_) close();
  return block;
}

[[gnu::noinline]] inline void* frame_pool::restock(std::size_t size) {
  shelf& s = shelves_[size];
  free_block* first = std::exchange(s.spare, nullptr);
  s.rounds = s.spare_rounds;
  if (!first) {
    s.rounds = most_rounds;
    first = depot.take(size);
    if (!first) return s.rounds = 0, cut(size);
    close_frames_at_the_end();
    blocks_ += free_block::count(first);
  }
  s.first = first->next;
  if (closed_) close();
  return first;
}

/// False if nothing is to be kept.
[[gnu::noinline]] inline bool frame_pool::renew_credit(std::size_t size) noexcept {
  close_frames_at_the_end();
  if (closed_) return false;
  shelf& s = shelves_[size];
  s.credit = credit_of(size);
  deaths_ += s.credit;
  auto const hand_over = [this, size](free_block* list) {
    if (!list) return;
    blocks_ -= free_block::count(list);
    depot.put(size, list);
  };
  if (s.rounds == most_rounds) {
    free_block* last = s.first;
    for (unsigned kept = 1; last && kept != s.credit; ++kept) last = last->next;
    if (last) hand_over(std::exchange(last->next, nullptr));
    s.rounds = 0;
  } else {
    hand_over(s.spare);
    s.spare = std::exchange(s.first, nullptr);
    s.spare_rounds = static_cast<unsigned char>(s.rounds + 1);
    s.rounds = 0;
  }
  return true;
}

/// Of this thread and those that have ended.
inline frame_count frames_so_far() noexcept {
  frame_count c = depot.counted();
  frame_count const ours = frames.count();
  c.births += ours.births;
  c.deaths += ours.deaths;
  return c;
}

/// Base of what lives in that memory.
struct pooled {
  static void* operator new(std::size_t bytes) { return frames.take(bytes); }
  static void operator delete(void* p, std::size_t bytes) noexcept { frames.give(p, bytes); }
  /// For what holds a handler that is aligned to more than the pool's blocks are.
  static void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return frames.take_aligned(bytes, alignment);
  }
  static void operator delete(void* p, std::size_t, std::align_val_t alignment) noexcept {
    frames.give_aligned(p, alignment);
  }
};

}  // namespace weft::detail
