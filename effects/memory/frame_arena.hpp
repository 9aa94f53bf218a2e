// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "weft/effects/memory/arena_table.hpp"
#include "weft/effects/memory/frame_depot.hpp"

/// Memory for the frames of one body that is resumed bitwise: the memory is saved as a whole, and
/// copied back to where it was (copying_prompt.hpp).
///
///   ARENA-1  The blocks are a stack, in the order of their allocation.  They lie in chunks that do
///       not move.  In front of each block is a header; its `number` says how many blocks are
///       below.
///   ARENA-2  A block that is freed at the top is removed, together with the dead blocks right
///       below it.  A block that is freed elsewhere stays as a dead block.
///   ARENA-3  A block that another thread frees stays alive for the arena, which does not learn
///       that it was freed.  So the arena is never deleted.
///   ARENA-4  Since mark(), no block with a number below `low_` has been allocated or freed.
namespace weft::detail {

/// A stack of blocks.  Used by one thread.
class frame_arena {
 public:
  /// Joins the list of a thread's arenas, which begins with `first`.
  frame_arena(arena_table& t, frame_arena*& first) noexcept : table_(t), first_(first) {
    next_ = std::exchange(first_, this);
  }
  frame_arena(frame_arena const&) = delete;
  frame_arena& operator=(frame_arena const&) = delete;
  ~frame_arena() {
    frame_arena** link = &first_;
    while (*link != this) link = &(*link)->next_;
    *link = next_;
    for (chunk const& c : chunks_) {
      depot.remove(*c.range);
      table_.remove(c.memory, c.capacity);
      ::operator delete(c.memory, alignment);
    }
  }

  // ---- blocks

  struct alignas(16) header {  // so that a block, which follows it, is aligned, too
    header* below;
    std::uint32_t number;
    bool dead;
    bool owns;  // the frame has a parameter that is not trivially copyable
  };
  static_assert(sizeof(header) == 16);
  static header& header_of(void* block) noexcept { return static_cast<header*>(block)[-1]; }

  /// Allocates a block.  `owns`: the block is a frame that must not be copied byte by byte.
  void* take(std::size_t bytes, bool owns = false) {
    std::size_t const size = sizeof(header) + (bytes + 15) / 16 * 16;
    if (static_cast<std::size_t>(end_ - top_) < size) [[unlikely]]
      make_room(size);
    auto* const h = ::new (static_cast<void*>(top_))
        header{last_, static_cast<std::uint32_t>(blocks()), false, owns};
    last_ = h;
    top_ += size;
    return h + 1;
  }
  /// The fast path of give(): frees `block`, which may be in any memory, if the block is in the
  /// current chunk, and if no more is to be done (see `floor_`).  Otherwise returns false, and
  /// changes nothing.
  bool try_give(void* block) noexcept {
    header* const h = &header_of(block);
    if (h != last_) {
      if (!is_near(block)) return false;
      note_death(*h);
      return true;
    }
    if (floor_ && (dead_ != 0 || reinterpret_cast<std::byte*>(h) == floor_)) return false;
    ++deaths_;
    pop();
    for (; dead_ != 0 && last_->dead; --dead_) pop();
    return true;
  }
  void give(void* block) noexcept {
    note_death(header_of(block));
    while (last_ && last_->dead) {
      --dead_;
      pop();
      while (last_ && top_ == begin_) stand_in(used_ - 1);
    }
  }
  /// Whether `block` is in the current chunk: a quick test, which is false for blocks in other
  /// chunks.
  [[nodiscard]] bool is_near(void const* block) const noexcept {
    return begin_ <= block && block < top_;
  }
  [[nodiscard]] bool contains(void const* block) const noexcept {
    auto const* const at = static_cast<std::byte const*>(block);
    if (begin_ <= at && at < top_) return true;
    for (std::size_t i = 0; i + 1 < used_; ++i)
      if (chunks_[i].memory <= at && at < chunks_[i].memory + chunks_[i].filled) return true;
    return false;
  }
  [[nodiscard]] std::size_t alive() const noexcept { return blocks() - dead_; }
  [[nodiscard]] frame_arena const* next() const noexcept { return next_; }
  [[nodiscard]] std::int64_t deaths() const noexcept { return deaths_; }
  /// Allows the arena to be deleted once its last block has been freed.
  void abandon() noexcept {
    abandoned_ = true;
    floor_ = begin_;
  }
  [[nodiscard]] bool may_be_deleted() const noexcept { return abandoned_ && !last_; }

  // ---- changes since mark() (ARENA-4)

  void mark() noexcept { low_ = static_cast<std::uint32_t>(blocks()); }
  void forget_mark() noexcept { low_ = 0; }
  /// The number of blocks that are as they were at mark(), if no block is dead.
  [[nodiscard]] std::size_t as_marked() const noexcept { return low_; }
  /// Whether the blocks are those that were there at mark(), and none is dead.
  [[nodiscard]] bool is_as_marked() const noexcept { return blocks() == low_ && dead_ == 0; }
  /// Whether the block with that number, and all blocks below it, were there at mark(), and still
  /// are.  False if any block is dead.
  [[nodiscard]] bool is_as_marked(std::uint32_t number) const noexcept {
    return number < low_ && dead_ == 0;
  }

  // ---- copying

  /// A copy of all blocks.  An image object is reused for later copies, which saves allocations.
  class image {
   public:
    [[nodiscard]] bool is_there() const noexcept { return is_there_; }
    void clear() noexcept { is_there_ = false; }

   private:
    friend class frame_arena;
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t room_ = 0;
    std::vector<std::size_t> below_;  // the bytes in each chunk but the last
    std::size_t top_ = 0;             // the bytes in the last chunk
    header* last_ = nullptr;
    std::uint32_t dead_ = 0;
    bool is_there_ = false;
  };
  /// Saves all blocks; there must be at least one.  O(bytes in use).
  void save(image& to) {
    to.top_ = bytes_at_top();
    to.last_ = last_;
    to.dead_ = dead_;
    std::byte* at = to.bytes_.get();
    if (used_ != 1 || to.top_ > to.room_ || !to.below_.empty()) [[unlikely]]
      at = save_below(to);
    std::memcpy(at, begin_, to.top_);
    to.is_there_ = true;
  }
  /// Restores all blocks into an empty arena.  O(bytes in use).
  void restore(image const& from) noexcept {
    std::byte const* at = from.bytes_.get();
    if (used_ != 1 || !from.below_.empty()) [[unlikely]]
      at = restore_below(from);
    assert(begin_ != nullptr);
    std::memcpy(begin_, at, from.top_);
    top_ = begin_ + from.top_;
    last_ = from.last_;
    dead_ = from.dead_;
  }
  /// Frees all blocks, and destroys nothing in them.
  void clear() noexcept {
    deaths_ += static_cast<std::int64_t>(alive());
    if (used_ > 1) stand_in(1);
    top_ = begin_;
    last_ = nullptr;
    low_ = 0;
    dead_ = 0;
  }

 private:
  struct chunk {
    std::unique_ptr<arena_range> range;
    std::byte* memory;
    std::size_t capacity;
    std::size_t filled;  // the bytes in use; out of date for the current chunk
  };
  static constexpr std::align_val_t alignment{arena_table::page};

  /// The number of blocks, dead ones included.
  [[nodiscard]] std::size_t blocks() const noexcept { return last_ ? last_->number + 1u : 0; }
  [[nodiscard]] std::size_t bytes_at_top() const noexcept {
    return static_cast<std::size_t>(top_ - begin_);
  }
  /// Makes the last of the first `used` chunks the current one; the next block goes behind its
  /// filled part.
  void stand_in(std::size_t used) noexcept {
    used_ = used;
    begin_ = used ? chunks_[used - 1].memory : nullptr;
    top_ = used ? begin_ + chunks_[used - 1].filled : nullptr;
    end_ = used ? begin_ + chunks_[used - 1].capacity : nullptr;
    floor_ = used > 1 || abandoned_ ? begin_ : nullptr;
  }
  /// Makes room in the image, and saves all chunks but the last.  Returns the place for the last
  /// one.
  [[gnu::noinline]] std::byte* save_below(image& to) {
    std::size_t bytes = to.top_;
    to.below_.clear();
    for (std::size_t i = 0; i + 1 != used_; ++i) {
      bytes += chunks_[i].filled;
      to.below_.push_back(chunks_[i].filled);
    }
    if (bytes > to.room_) {
      to.bytes_.reset(new std::byte[2 * bytes]);  // uninitialised
      to.room_ = 2 * bytes;
    }
    std::byte* at = to.bytes_.get();
    for (std::size_t i = 0; i != to.below_.size(); ++i) {
      std::memcpy(at, chunks_[i].memory, to.below_[i]);
      at += to.below_[i];
    }
    return at;
  }
  /// Restores all chunks but the last, which becomes the current one.  Returns the saved bytes of
  /// the last one.
  [[gnu::noinline]] std::byte const* restore_below(image const& from) noexcept {
    std::byte const* at = from.bytes_.get();
    for (std::size_t i = 0; i != from.below_.size(); ++i) {
      chunks_[i].filled = from.below_[i];
      std::memcpy(chunks_[i].memory, at, from.below_[i]);
      at += from.below_[i];
    }
    if (used_ != from.below_.size() + 1) stand_in(from.below_.size() + 1);
    return at;
  }
  void note_death(header& h) noexcept {
    ++deaths_;
    ++dead_;
    h.dead = true;
    low_ = std::min(low_, h.number);
  }
  /// Removes the block at the top.
  void pop() noexcept {
    if (last_->number < low_) low_ = last_->number;
    top_ = reinterpret_cast<std::byte*>(last_);
    last_ = last_->below;
  }
  /// Makes a chunk with room for `size` bytes the current one.  A chunk that is too small is passed
  /// over and stays empty, because an image identifies chunks by their order.
  void make_room(std::size_t size) {
    if (used_ != 0) chunks_[used_ - 1].filled = bytes_at_top();
    std::size_t next = used_;
    while (next != chunks_.size() && chunks_[next].capacity < size) ++next;
    if (next == chunks_.size()) {
      std::size_t const least = chunks_.empty() ? 0 : 2 * chunks_.back().capacity;
      std::size_t const capacity =
          (std::max(least, size) + arena_table::page - 1) / arena_table::page * arena_table::page;
      chunks_.reserve(chunks_.size() + 1);
      auto range = std::make_unique<arena_range>();
      auto* const memory = static_cast<std::byte*>(::operator new(capacity, alignment));
      try {
        table_.add(memory, capacity, *this);
      } catch (...) {
        ::operator delete(memory, alignment);
        throw;
      }
      *range = {memory, capacity};
      depot.add(*range);
      chunks_.push_back({std::move(range), memory, capacity, 0});
    }
    for (std::size_t i = used_; i <= next; ++i) chunks_[i].filled = 0;
    stand_in(next + 1);
  }

  arena_table& table_;
  frame_arena*& first_;
  frame_arena* next_;
  std::vector<chunk> chunks_;
  std::size_t used_ = 0;  // how many chunks are in use; the last of them is the current one
  std::byte* begin_ = nullptr;
  std::byte* top_ = nullptr;
  std::byte* end_ = nullptr;
  /// The beginning of the current chunk, if more is to be done once the chunk is empty: a chunk
  /// below it becomes the current one, or the arena may be deleted.  Else null.
  std::byte* floor_ = nullptr;
  header* last_ = nullptr;  // the header of the block at the top (ARENA-1)
  std::int64_t deaths_ = 0;
  std::uint32_t low_ = 0;   // blocks with a lower number are unchanged since mark() (ARENA-4)
  std::uint32_t dead_ = 0;  // the number of dead blocks (ARENA-2)
  bool abandoned_ = false;
};

}  // namespace weft::detail
