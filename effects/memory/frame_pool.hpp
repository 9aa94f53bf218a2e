// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "weft/effects/memory/free_blocks.hpp"

/// Memory for frames and prompts: free blocks by size, a set of them for each thread.
///
///   POOL-1  For each size, a thread has a stack of free blocks for take() and give(): an array of
///       their addresses.  Neither function reads a block, so neither waits for a cache miss.  The
///       array grows up to `most_of` addresses.  When an array that cannot grow any more is full,
///       the half of its blocks that was freed first goes to the thread's list, from which an empty
///       stack is filled.  A list that has half of `most_of` blocks becomes the spare list; the
///       previous spare list goes to the depot, which all threads share, and from which empty lists
///       are filled.  So a thread has a stack and two lists of each size, and blocks that are
///       allocated on one thread and freed on another circulate and do not pile up.  A list
///       knows its length, so it is handed over without a walk along it.
///   POOL-2  Blocks are cut from slabs, one behind the other, because malloc would take 16 bytes
///       more for each: a fifth of a waiting process.  So no block is returned to the system: the
///       memory for frames at the peak stays memory for frames.  Blocks of over 4 KB come from the
///       system.
///   POOL-3  Under AddressSanitizer no block is kept, so that a use after free is detected: the
///       stacks have no room, so that the slow path sees each take() and give().  The depot decides
///       whether blocks are kept, for all modules and files of a program: a file that is compiled
///       with AddressSanitizer may be linked with one that is not.
///   POOL-4  While there are arenas (frame_arena.hpp), the stacks are put aside, and stacks without
///       room take their place.  So the slow path sees each take() and give(), and the fast path
///       need not ask whether there is an arena.
///   POOL-5  A block of over 256 bytes shares no cache line with another: it begins at a line, and
///       is a whole number of lines.  Otherwise two threads might write to one line, each to its
///       own block: after tasks have been stolen, neighbouring blocks belong to different threads.
namespace weft::detail {

class arena_table;
class frame_arena;

/// Whether a block belongs to the running body.  A block of a body that has an arena lies in that
/// arena.
enum class block_owner : unsigned char {
  none,
  body,
  body_owning  ///< A frame of the body with a parameter that is not trivially copyable.
};

/// A thread's free blocks.
class frame_pool {
 public:
  /// Allocates a block.
  template <block_owner Owner = block_owner::none>
  void* take(std::size_t bytes) {
    std::size_t const size = block_size::of(bytes);
    if (size >= block_sizes) [[unlikely]]
      return from_system(bytes, Owner);
    stack& s = stacks_[size];
    void* const block = *s.top;
    if (!block) [[unlikely]]
      return take_slow(bytes, Owner);
    --s.top;
    return block;
  }
  /// Allocates a block that does not belong to the running body.  Null if take() would need its
  /// slow path.
  [[nodiscard, gnu::always_inline]] void* try_take(std::size_t bytes) noexcept {
    std::size_t const size = block_size::of(bytes);
    if (size >= block_sizes) return nullptr;
    stack& s = stacks_[size];
    void* const block = *s.top;
    if (block) [[likely]]
      --s.top;
    return block;
  }
  void give(void* p, std::size_t bytes) noexcept {
    std::size_t const size = block_size::of(bytes);
    if (size >= block_sizes) [[unlikely]]
      return to_system(p);
    stack& s = stacks_[size];
    if (s.top == s.limit) [[unlikely]]
      return give_slow(p, size);
    void** const top = s.top + 1;
    s.top = top;
    ++s.deaths;  // beside `top`: two stores in a row to one cache line take as long as one
    *top = p;
  }
  /// Whether give() of a block of that many bytes needs no slow path.
  [[nodiscard, gnu::always_inline]] bool gives_in_place(std::size_t bytes) const noexcept {
    std::size_t const size = block_size::of(bytes);
    return size < block_sizes && stacks_[size].top != stacks_[size].limit;
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
  /// Counts births and deaths: adds up the stacks, the lists and the arenas.
  [[nodiscard]] frame_count count() const noexcept;

  /// Equals count().alive(), and is faster while there are no arenas.
  [[nodiscard]] std::int64_t alive() const noexcept {
    if (arenas_) return count().alive();
    std::int64_t alive = blocks_;
    for (std::size_t i = 0; i != sizes_.size(); ++i)
      for (std::uint64_t left = sizes_[i]; left != 0; left &= left - 1) {
        std::size_t const size = i * 64 + static_cast<unsigned>(std::countr_zero(left));
        alive -= static_cast<std::int64_t>(stacks_[size].blocks() + lists_[size].blocks());
      }
    return alive;
  }

  /// Sets whether blocks come from the reserve (unwinding_reserve.hpp) when the system has no
  /// memory.  Returns the previous setting.
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

  /// Called when the thread ends: all free blocks go to the depot, and blocks that are freed later
  /// will, too.
  void close() noexcept;

 private:
  /// The largest number of blocks in a stack (POOL-1).
  static constexpr std::uint32_t most_of(std::size_t size) noexcept {
    return static_cast<std::uint32_t>(1024 * 1024 / (block_size::bytes(size) + block_size::grain));
  }
  /// Free blocks of a size, the one that was freed last on top.
  struct stack {
    void** top = &no_room;     // the topmost entry, or `bottom`
    void** limit = &no_room;   // where `top` is when the stack is full
    void** bottom = &no_room;  // the array; its first entry is null
    std::int64_t deaths = 0;   // the number of frees by give()

    [[nodiscard]] std::size_t blocks() const noexcept {
      return static_cast<std::size_t>(top - bottom);
    }
    [[nodiscard]] std::size_t room() const noexcept {
      return static_cast<std::size_t>(limit - bottom);
    }
  };
  /// The entry to which `top` of a stack without an array points.  Never written.
  [[gnu::visibility("default")]] static inline constinit void* no_room = nullptr;
  struct list {
    free_block* first = &no_block;
    free_block* spare = &no_block;
    [[nodiscard]] std::size_t blocks() const noexcept {
      return std::size_t{first->depth} + spare->depth;
    }
  };
  using stacks = std::array<stack, block_sizes>;
  struct while_in_arenas;

  [[nodiscard]] stacks& kept() noexcept;
  [[nodiscard]] stacks const& kept() const noexcept;
  void note_list(std::size_t size) noexcept { sizes_[size / 64] |= std::uint64_t{1} << size % 64; }
  void* take_slow(std::size_t bytes, block_owner owner);
  /// Static, so that `p` stays in its register: called for each block while there are arenas.
  static void give_slow(void* p, std::size_t size) noexcept;
  static void give_to_owner(void* p, std::size_t size) noexcept;
  [[gnu::cold]] void give_to_list(void* p, std::size_t size) noexcept;
  void* take_in_arena(std::size_t bytes, block_owner owner);
  frame_arena* arena_of(void* p) noexcept;
  bool give_in_arena(void* p) noexcept;
  void end_arena(frame_arena& a) noexcept;
  void* obtain(std::size_t size);
  void* restock(stack& s, std::size_t size);
  bool make_room(stack& s, std::size_t size) noexcept;
  static bool grow(stack& s, std::size_t most) noexcept;
  void to_list(void** blocks, std::uint32_t n, std::size_t size) noexcept;
  std::uint32_t from_list(void** to, std::uint32_t most, std::size_t size) noexcept;
  void hand_over(free_block* first, std::size_t size) noexcept;
  void* cut(std::size_t size);
  void to_depot(void* p, std::size_t size) noexcept;
  void* from_system(std::size_t bytes, block_owner owner);
  void to_system(void* p) noexcept;

  stacks stacks_{};
  std::array<list, block_sizes> lists_{};
  slab_remainder slab_;      // the slab that blocks are cut from (POOL-2)
  std::int64_t blocks_ = 0;  // blocks from the system and the depot, less those returned to them
  std::int64_t deaths_ = 0;  // the number of frees that stack::deaths does not count
  std::array<std::uint64_t, block_sizes / 64 + 1> sizes_{};  // a bit for each size that had blocks
  bool closed_ = false;
  bool uses_reserve_ = false;
  unsigned arenas_ = 0;
  frame_arena* recent_arena_ = nullptr;  // where a search begins; null if there are no arenas
  while_in_arenas* in_arenas_ = nullptr;
  arena_table const* table_ = nullptr;  // the table of *in_arenas_
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

/// While it exists, allocations may use the reserve for unwinding (unwinding_reserve.hpp).
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
  static void* operator new(std::size_t bytes) { return frames.take<block_owner::body>(bytes); }
  static void operator delete(void* p, std::size_t bytes) noexcept { frames.give(p, bytes); }
  [[gnu::noinline]] static void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return frames.take_aligned(bytes, alignment);
  }
  [[gnu::noinline]] static void operator delete(void* p, std::align_val_t alignment) noexcept {
    frames.give_aligned(p, alignment);
  }
};

}  // namespace weft::detail
