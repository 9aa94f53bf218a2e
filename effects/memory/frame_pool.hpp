// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "weft/effects/memory/free_blocks.hpp"

/// Memory for frames and prompts: lists of free blocks by size, one set for each thread.
///
///   POOL-1  A thread has two lists of a size: the first, for take() and give(), and a spare one,
///       which take() uses when the first is empty.  After every `credit` frees, the first list
///       becomes the spare one; a spare list that is still there goes to the depot, which all
///       threads share, and which fills empty lists.  But if the first list then has 2 * credit
///       blocks or more, it is cut: `credit` blocks stay, and the others go to the depot.  So a
///       list holds at most 3 * credit blocks, and blocks that are allocated on one thread and
///       freed on another circulate and do not pile up.  A list knows its length, so it is handed
///       over without a walk along it, which would be a cache miss for each block.
///   POOL-2  Blocks are cut from slabs, one behind the other, because malloc would take 16 bytes
///       more for each: a fifth of a waiting process.  So no block is returned to the system: the
///       memory for frames at the peak stays memory for frames.  Blocks of over 4 KB come from the
///       system.
///   POOL-3  Under AddressSanitizer no block is kept, so that a use after free is detected: the
///       lists stay empty and without credit, so that the slow path sees each take() and give().
///       The depot decides this, for all modules and files of a program: a file that is compiled
///       with AddressSanitizer may be linked with one that is not.
///   POOL-4  While there are arenas (frame_arena.hpp) the lists are put aside, and those in their
///       place are empty and without credit.  So the slow path sees each take() and give(), and the
///       fast path need not ask whether there is an arena.
///   POOL-5  A block of over 256 bytes shares no cache line with another: it begins at a line, and
///       is a whole number of lines.  Otherwise two threads might write to one line, each to its
///       own block: after tasks have been stolen, neighbouring blocks belong to different threads.
namespace weft::detail {

class arena_table;
class frame_arena;

/// A thread's free blocks.
class frame_pool {
 public:
  /// Allocates a block.  `InBody`: the block belongs to the running body, and lies in the arena of
  /// that body if it has one.
  template <bool InBody = false>
  void* take(std::size_t bytes) {
    std::size_t const size = block_size::of(bytes);
    if (size >= block_sizes) [[unlikely]]
      return from_system(bytes, InBody);
    shelf& s = shelves_[size];
    free_block* const block = s.first;
    free_block* const next = block->next;
    if (!next) [[unlikely]]
      return take_slow(bytes, InBody);
    s.first = next;
    prefetch(next, size);
    return block;
  }
  void give(void* p, std::size_t bytes) noexcept {
    std::size_t const size = block_size::of(bytes);
    if (size >= block_sizes) [[unlikely]]
      return to_system(p);
    shelf& s = shelves_[size];
    if (s.credit == 0) [[unlikely]]
      return give_slow(p, size);
    put(s, p);
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
  /// Adds up the lists: a counter in take() would make each call of an eff a tenth slower.
  [[nodiscard]] frame_count count() const noexcept;

  /// The same as count().alive(); faster while there are no arenas.
  [[nodiscard]] std::int64_t alive() const noexcept {
    if (arenas_) return count().alive();
    std::int64_t alive = blocks_;
    for (std::size_t i = 0; i != sizes_.size(); ++i)
      for (std::uint64_t left = sizes_[i]; left != 0; left &= left - 1) {
        shelf const& s = shelves_[i * 64 + static_cast<unsigned>(std::countr_zero(left))];
        alive -= s.first->depth + s.spare->depth;
      }
    return alive;
  }

  /// Sets whether blocks come from the reserve when the system has no memory.  Returns the previous
  /// setting.
  bool use_reserve(bool on) noexcept { return std::exchange(uses_reserve_, on); }

  // ---- arenas (POOL-4)

  /// Makes an arena.  `here` is called to get the arena of the running body; it returns null if
  /// there is none.
  frame_arena& make_arena(frame_arena* (*here)() noexcept);
  /// Called when the owner of an arena needs it no more: deletes it as soon as no block in it is
  /// alive.
  void abandon(frame_arena& a) noexcept;
  /// The table of this thread's arenas; null if the thread never had an arena.
  [[nodiscard]] arena_table const* arenas() const noexcept { return table_; }
  [[nodiscard]] bool has_arenas() const noexcept { return arenas_ != 0; }
  /// Notes that the frame at `block`, which has just been allocated, has a parameter that is not
  /// trivially copyable; does nothing if it is in no arena.
  void mark_owning(void* block) noexcept;

  /// Called when the thread ends: all free blocks go to the depot, and blocks that are freed later
  /// will, too.
  void close() noexcept;

 private:
  /// The credit of POOL-1: a number of blocks.
  static constexpr unsigned credit_of(std::size_t size) noexcept {
    return static_cast<unsigned>(1024 * 1024 / (block_size::bytes(size) + block_size::grain));
  }
  struct shelf {
    free_block* first = &no_block;
    free_block* spare = &no_block;
    unsigned credit = 0;  // frees before the next slow one; at first 0: the first is slow
  };
  using shelves = std::array<shelf, block_sizes>;
  struct while_in_arenas;

  [[nodiscard]] shelves& kept() noexcept;
  [[nodiscard]] shelves const& kept() const noexcept;
  /// Prefetches the block that the next take() will return: it may be in another thread's cache, or
  /// in none.
  static void prefetch(void* block, std::size_t size) noexcept {
    __builtin_prefetch(block, 1);
    if (block_size::bytes(size) > block_size::line)
      __builtin_prefetch(static_cast<std::byte*>(block) + block_size::line, 1);
  }
  static void put(shelf& s, void* p) noexcept {
    --s.credit;
    auto* const block = ::new (p) free_block;
    block->next = s.first;
    block->depth = s.first->depth + 1;
    s.first = block;
  }
  void note_list(std::size_t size) noexcept { sizes_[size / 64] |= std::uint64_t{1} << size % 64; }
  void* take_slow(std::size_t bytes, bool in_body);
  void give_slow(void* p, std::size_t size) noexcept;
  void give_to_owner(void* p, std::size_t size) noexcept;
  void give_to_list(void* p, std::size_t size) noexcept;
  void* take_in_arena(std::size_t bytes);
  frame_arena* arena_of(void* p) noexcept;
  bool give_in_arena(void* p) noexcept;
  void end_arena(frame_arena& a) noexcept;
  void* restock(shelf& s, std::size_t size);
  bool renew_credit(shelf& s, std::size_t size) noexcept;
  void* cut(std::size_t size);
  void to_depot(void* p, std::size_t size) noexcept;
  void* from_system(std::size_t bytes, bool in_body);
  void to_system(void* p) noexcept;

  shelves shelves_{};
  slab_remainder slab_;      // from which blocks are cut (POOL-2)
  std::int64_t blocks_ = 0;  // obtained from the system and the depot, less those returned to them
  std::int64_t deaths_ = 0;  // the number of frees, as if all credit were used up
  std::array<std::uint64_t, block_sizes / 64 + 1> sizes_{};  // a bit for each size that had a list
  bool closed_ = false;
  bool uses_reserve_ = false;
  unsigned arenas_ = 0;
  frame_arena* recent_arena_ = nullptr;  // allocated in last; a hint; null if there is none
  while_in_arenas* in_arenas_ = nullptr;
  arena_table const* table_ = nullptr;  // that of in_arenas_
};
[[gnu::visibility("default")]] inline thread_local constinit frame_pool frames;

/// Closes the pool when its thread ends.  A separate object: a thread_local with a destructor costs
/// a check for each access.
struct closes_frames {
  ~closes_frames() { frames.close(); }
};
[[gnu::visibility("default"), gnu::noinline]] inline void close_frames_at_the_end() {
  static thread_local closes_frames const at_the_end;
  (void)at_the_end;
}

/// A scope whose allocations are needed to unwind something: they may use the reserve.
class while_unwinding {
 public:
  while_unwinding() noexcept : before_(frames.use_reserve(true)) {}
  while_unwinding(while_unwinding const&) = delete;
  while_unwinding& operator=(while_unwinding const&) = delete;
  ~while_unwinding() { (void)frames.use_reserve(before_); }

 private:
  bool const before_;
};

/// The counts of this thread and of the threads that have ended.
[[nodiscard]] frame_count frames_so_far() noexcept;

/// Base of objects that are allocated in the pool and do not belong to the running body.
struct pooled {
  static void* operator new(std::size_t bytes) { return frames.take(bytes); }
  static void operator delete(void* p, std::size_t bytes) noexcept { frames.give(p, bytes); }
  /// For an object that holds a handler with a stricter alignment than the pool's blocks have.
  /// noinline, because g++ 12 would take the two operators for a mismatched pair.  This operator
  /// delete has no size parameter, because the form without it is called if the constructor throws.
  [[gnu::noinline]] static void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return frames.take_aligned(bytes, alignment);
  }
  [[gnu::noinline]] static void operator delete(void* p, std::align_val_t alignment) noexcept {
    frames.give_aligned(p, alignment);
  }
};

/// Base of objects that belong to the running body: frames, and the prompts between them.
struct pooled_in_body : pooled {
  static void* operator new(std::size_t bytes) { return frames.take<true>(bytes); }
  static void operator delete(void* p, std::size_t bytes) noexcept { frames.give(p, bytes); }
  [[gnu::noinline]] static void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return frames.take_aligned(bytes, alignment);
  }
  [[gnu::noinline]] static void operator delete(void* p, std::align_val_t alignment) noexcept {
    frames.give_aligned(p, alignment);
  }
};

}  // namespace weft::detail
