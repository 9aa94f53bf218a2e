// SPDX-License-Identifier: MIT
#include "weft/effects/memory/frame_pool.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "weft/effects/memory/arena_table.hpp"
#include "weft/effects/memory/frame_arena.hpp"
#include "weft/effects/memory/frame_depot.hpp"
#include "weft/effects/memory/unwinding_reserve.hpp"

/// The slow paths of the pool: a stack is empty or full, no block is kept, or there are arenas.
namespace weft::detail {

// ---- arenas (POOL-4)

/// The state that is needed while there are arenas.
struct frame_pool::while_in_arenas {
  arena_table table;
  frame_arena* (*here)() noexcept = nullptr;
  frame_arena* first = nullptr;  // the first in the list of this thread's arenas
  stacks aside;
};

/// The stacks of free blocks, which are put aside while there are arenas.
frame_pool::stacks& frame_pool::kept() noexcept { return arenas_ ? in_arenas_->aside : stacks_; }
frame_pool::stacks const& frame_pool::kept() const noexcept {
  return arenas_ ? in_arenas_->aside : stacks_;
}

frame_arena& frame_pool::make_arena(frame_arena* (*here)() noexcept) {
  if (!in_arenas_) in_arenas_ = new while_in_arenas;
  table_ = &in_arenas_->table;
  auto* const a = new frame_arena(in_arenas_->table, in_arenas_->first);
  in_arenas_->here = here;
  recent_arena_ = a;
  if (arenas_++ == 0) in_arenas_->aside = std::exchange(stacks_, {});
  return *a;
}
void frame_pool::abandon(frame_arena& a) noexcept {
  a.abandon();
  if (a.may_be_deleted()) end_arena(a);
}
void frame_pool::end_arena(frame_arena& a) noexcept {
  deaths_ += a.deaths();
  delete &a;
  recent_arena_ = in_arenas_->first;
  if (--arenas_ == 0) stacks_ = in_arenas_->aside;
  if (arenas_ == 0 && closed_) close();
}
/// Allocates in the arena of the running body.  Returns null if the block does not belong to the
/// body, or if the body has no arena.
void* frame_pool::take_in_arena(std::size_t bytes, block_owner owner) {
  if (owner == block_owner::none) return nullptr;
  frame_arena* const a = in_arenas_->here();
  if (!a) return nullptr;
  recent_arena_ = a;
  return a->take(bytes, owner == block_owner::body_owning);
}
/// The arena of this thread in which `p` lies; null if there is none.
frame_arena* frame_pool::arena_of(void* p) noexcept {
  // While there are arenas, recent_arena_ is not null, which the analyzer does not see.
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage)
  return recent_arena_->is_near(p) ? recent_arena_ : in_arenas_->table.find(p);
}
bool frame_pool::give_in_arena(void* p) noexcept {
  frame_arena* const a = arenas_ ? arena_of(p) : nullptr;
  if (!a) return false;
  a->give(p);
  if (a->may_be_deleted()) [[unlikely]]
    end_arena(*a);
  return true;
}
void* frame_pool::take_slow(std::size_t bytes, block_owner owner) {
  std::size_t const size = block_size::of(bytes);
  if (arenas_) {
    if (void* const p = take_in_arena(bytes, owner)) return p;
    stack& s = in_arenas_->aside[size];
    if (*s.top) return *s.top--;
  }
  if (!depot.keeps_blocks()) return from_system(bytes, owner);
  return restock(kept()[size], size);
}
void frame_pool::give_slow(void* p, std::size_t size) noexcept {
  frame_arena* const a = frames.recent_arena_;
  if (a && a->try_give(p)) return;
  give_to_owner(p, size);
}
[[gnu::noinline]] void frame_pool::give_to_owner(void* p, std::size_t size) noexcept {
  frame_pool& us = frames;
  if (!depot.keeps_blocks()) return us.to_system(p);
  if (us.give_in_arena(p)) return;
  stack& s = us.kept()[size];
  if (s.top == s.limit) [[unlikely]]
    return us.give_to_list(p, size);
  *++s.top = p;
  ++us.deaths_;
}
void frame_pool::give_to_list(void* p, std::size_t size) noexcept {
  stack& s = kept()[size];
  if (!make_room(s, size)) return to_depot(p, size);
  *++s.top = p;
  ++deaths_;
}

// ---- blocks of the system

void* frame_pool::from_system(std::size_t bytes, block_owner owner) {
  close_frames_at_the_end();
  if (arenas_)
    if (void* const p = take_in_arena(bytes, owner)) return p;
  void* block = nullptr;
  try {
    block = ::operator new(bytes);
  } catch (std::bad_alloc const&) {
    block = uses_reserve_ ? reserve_for_unwinding.take(bytes) : nullptr;
    if (!block) throw;
  }
  ++blocks_;
  if (closed_) close();
  return block;
}
void frame_pool::to_system(void* p) noexcept {
  if (give_in_arena(p)) return;
  close_frames_at_the_end();
  ++deaths_;
  --blocks_;
  if (closed_) close();
  if (!depot.contains(p) && !reserve_for_unwinding.give(p))
    ::operator delete(p);  // else p stays in another thread's arena, or is back in the reserve
}

// ---- lists

void frame_pool::to_depot(void* p, std::size_t size) noexcept {
  ++deaths_;
  --blocks_;
  depot.put(size, ::new (p) free_block{&no_block, nullptr, 1, 0});
  if (closed_) close();
}

void* frame_pool::cut(std::size_t size) {
  static constexpr std::size_t slab_bytes = 64 * 1024;
  close_frames_at_the_end();
  std::size_t const bytes = block_size::bytes(size);
  auto const has_room = [&] {
    if (bytes > block_size::small) slab_.align(block_size::line);  // blocks share no line (POOL-5)
    return slab_.bytes() >= bytes;
  };
  if (!has_room()) slab_ = depot.take_remainder();
  void* reserved = nullptr;
  if (!has_room()) try {
      void* const slab = ::operator new(slab_bytes, std::align_val_t(block_size::line));
      slab_ = {static_cast<std::byte*>(slab), static_cast<std::byte*>(slab) + slab_bytes};
    } catch (std::bad_alloc const&) {
      // The pool keeps a block of the reserve, as if it were cut from a slab: the block does not
      // go back to the reserve.
      reserved = uses_reserve_ ? reserve_for_unwinding.take(bytes) : nullptr;
      if (!reserved) throw;
    }
  void* const block = reserved ? reserved : std::exchange(slab_.at, slab_.at + bytes);
  ++blocks_;
  if (closed_) close();
  return block;
}

/// Returns a block from the thread's lists, from the depot, or cut from a slab.
void* frame_pool::obtain(std::size_t size) {
  note_list(size);
  list& l = lists_[size];
  if (!l.first->next) l.first = std::exchange(l.spare, &no_block);
  if (!l.first->next) {
    free_block* const batch = depot.take(size);
    if (!batch) return cut(size);
    close_frames_at_the_end();
    blocks_ += batch->depth;
    l.first = batch;
  }
  void* block = nullptr;
  (void)from_list(&block, 1, size);
  if (closed_) close();
  return block;
}
/// Called when a stack is empty: returns a block, and takes more from the list.
void* frame_pool::restock(stack& s, std::size_t size) {
  static constexpr std::uint32_t at_once = 32;
  void* const block = obtain(size);
  if (!lists_[size].first->next || (s.room() < at_once && !grow(s, most_of(size)))) return block;
  std::uint32_t const n = from_list(s.top + 1, at_once, size);
  std::reverse(s.top + 1, s.top + 1 + n);  // so that blocks are taken in the order of the list
  for (std::uint32_t i = 0; i != n; ++i) __builtin_prefetch(*++s.top, 1);
  return block;
}

/// Called when a stack is full: makes room.  False if the thread has ended, and keeps no block; or
/// if the stack has no array, and there is no memory for one.
bool frame_pool::make_room(stack& s, std::size_t size) noexcept {
  close_frames_at_the_end();
  if (closed_) return false;
  note_list(size);
  std::size_t const most = most_of(size);
  if (s.room() < most && grow(s, most)) return true;
  auto const oldest = static_cast<std::uint32_t>(s.room() / 2);
  if (oldest == 0) return false;
  to_list(s.bottom + 1, oldest, size);
  std::memmove(s.bottom + 1, s.bottom + 1 + oldest, (s.room() - oldest) * sizeof(void*));
  s.top -= oldest;
  return true;
}

/// Gives a stack a larger array.  False if there is no memory for it.
bool frame_pool::grow(stack& s, std::size_t most) noexcept {
  std::size_t const room = std::min(most, std::max<std::size_t>(63, 2 * s.room() + 1));
  bool const is_first = s.bottom == &no_room;
  auto* const array =
      static_cast<void**>(std::realloc(is_first ? nullptr : s.bottom, (room + 1) * sizeof(void*)));
  if (!array) return false;
  *array = nullptr;
  s.top = array + (is_first ? 0 : s.top - s.bottom);
  s.bottom = array;
  s.limit = array + room;
  return true;
}

/// Puts `n` blocks on the thread's list of this size.
void frame_pool::to_list(void** blocks, std::uint32_t n, std::size_t size) noexcept {
  list& l = lists_[size];
  std::uint32_t const room = free_block::room(block_size::bytes(size));
  while (n != 0) {
    std::uint32_t const others = std::min(n - 1, room);
    auto* const block =
        ::new (*blocks) free_block{l.first, nullptr, l.first->depth + others + 1, others};
    for (std::uint32_t i = 0; i != others; ++i) block->other(i) = blocks[i + 1];
    l.first = block;
    blocks += others + 1;
    n -= others + 1;
  }
  if (l.first->depth < most_of(size) / 2) return;
  hand_over(std::exchange(l.spare, l.first), size);
  l.first = &no_block;
}
/// Takes at most `most` blocks from the thread's list of this size.  Returns how many.
std::uint32_t frame_pool::from_list(void** to, std::uint32_t most, std::size_t size) noexcept {
  list& l = lists_[size];
  std::uint32_t n = 0;
  for (; n != most && l.first->next; ++n) {
    free_block* const block = l.first;
    if (block->others != 0) {
      to[n] = block->other(--block->others);
      --block->depth;
    } else {
      l.first = block->next;
      to[n] = block;
    }
  }
  return n;
}
/// Gives a list of blocks, unless it is empty, to the depot.
void frame_pool::hand_over(free_block* first, std::size_t size) noexcept {
  if (!first->next) return;
  blocks_ -= first->depth;
  depot.put(size, first);
}

// ---- all stacks and lists

frame_count frame_pool::count() const noexcept {
  std::int64_t deaths = deaths_;
  std::int64_t alive = blocks_;
  for (frame_arena const* a = arenas_ ? in_arenas_->first : nullptr; a; a = a->next()) {
    deaths += a->deaths();
    alive += static_cast<std::int64_t>(a->alive());
  }
  for (auto const& s : kept()) {
    deaths += s.deaths;
    alive -= static_cast<std::int64_t>(s.blocks());
  }
  for (auto const& l : lists_) alive -= static_cast<std::int64_t>(l.blocks());
  return {deaths + alive, deaths};
}

frame_count frames_so_far() noexcept {
  frame_count c = depot.counted();
  frame_count const ours = frames.count();
  c.births += ours.births;
  c.deaths += ours.deaths;
  return c;
}

void frame_pool::close() noexcept {
  closed_ = true;
  depot.count(count());
  for (std::size_t size = 0; size != block_sizes; ++size) {
    stack& s = kept()[size];
    if (s.blocks() != 0) to_list(s.bottom + 1, static_cast<std::uint32_t>(s.blocks()), size);
    if (s.bottom != &no_room) std::free(s.bottom);
    s = {};
    for (auto* const first : {lists_[size].first, lists_[size].spare})
      if (first->next) depot.put(size, first);
    lists_[size] = {};
  }
  blocks_ = deaths_ = 0;
  frame_count const counted = count();  // only the blocks in arenas are left
  deaths_ = -counted.deaths;
  blocks_ = -counted.alive();
  depot.put(std::exchange(slab_, {}));
  if (arenas_ != 0) return;
  table_ = nullptr;
  delete std::exchange(in_arenas_, nullptr);
}

}  // namespace weft::detail
