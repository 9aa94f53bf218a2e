// SPDX-License-Identifier: MIT
#include "weft/effects/memory/frame_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "weft/effects/memory/arena_table.hpp"
#include "weft/effects/memory/frame_arena.hpp"
#include "weft/effects/memory/frame_depot.hpp"
#include "weft/effects/memory/unwinding_reserve.hpp"

/// The slow paths of the pool: a list is empty or full, no block is kept, or there are arenas.
namespace weft::detail {

// ---- arenas (POOL-4)

/// The state that is needed while there are arenas.
struct frame_pool::while_in_arenas {
  arena_table table;
  frame_arena* (*here)() noexcept = nullptr;
  frame_arena* first = nullptr;  // of the list of this thread's arenas
  shelves aside;
};

/// The lists of free blocks, which are put aside while there are arenas.
frame_pool::shelves& frame_pool::kept() noexcept { return arenas_ ? in_arenas_->aside : shelves_; }
frame_pool::shelves const& frame_pool::kept() const noexcept {
  return arenas_ ? in_arenas_->aside : shelves_;
}

frame_arena& frame_pool::make_arena(frame_arena* (*here)() noexcept) {
  if (!in_arenas_) in_arenas_ = new while_in_arenas;
  table_ = &in_arenas_->table;
  auto* const a = new frame_arena(in_arenas_->table, in_arenas_->first);
  in_arenas_->here = here;
  recent_arena_ = a;
  if (arenas_++ == 0) in_arenas_->aside = std::exchange(shelves_, {});
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
  if (--arenas_ == 0) shelves_ = in_arenas_->aside;
  if (arenas_ == 0 && closed_) close();
}
/// Allocates in the arena of the running body; null if it has none.
void* frame_pool::take_in_arena(std::size_t bytes) {
  frame_arena* const a = in_arenas_->here();
  if (!a) return nullptr;
  recent_arena_ = a;
  return a->take(bytes);
}
/// The arena of this thread in which `p` lies; null if there is none.
frame_arena* frame_pool::arena_of(void* p) noexcept {
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
void frame_pool::mark_owning(void* block) noexcept {
  if (arena_of(block)) frame_arena::header_of(block).owns = true;
}

void* frame_pool::take_slow(std::size_t bytes, bool in_body) {
  if (!depot.keeps_blocks()) return from_system(bytes, in_body);
  std::size_t const size = block_size::of(bytes);
  if (!arenas_) return restock(shelves_[size], size);
  if (in_body)
    if (void* const p = take_in_arena(block_size::bytes(size))) return p;
  shelf& s = in_arenas_->aside[size];
  return s.first->next ? std::exchange(s.first, s.first->next) : restock(s, size);
}
void frame_pool::give_slow(void* p, std::size_t size) noexcept {
  if (recent_arena_ && recent_arena_->try_give_at_top(p)) return;
  give_to_owner(p, size);
}
void frame_pool::give_to_owner(void* p, std::size_t size) noexcept {
  if (!depot.keeps_blocks()) return to_system(p);
  if (give_in_arena(p)) return;
  give_to_list(p, size);
}
void frame_pool::give_to_list(void* p, std::size_t size) noexcept {
  shelf& s = kept()[size];
  if (s.credit == 0 && !renew_credit(s, size)) return to_depot(p, size);
  put(s, p);
}

// ---- blocks of the system

void* frame_pool::from_system(std::size_t bytes, bool in_body) {
  close_frames_at_the_end();
  if (in_body && arenas_)
    if (void* const p = take_in_arena(bytes)) return p;
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
    ::operator delete(p);  // else in another thread's arena, where it stays; or in the reserve
}

// ---- lists

void frame_pool::to_depot(void* p, std::size_t size) noexcept {
  ++deaths_;
  --blocks_;
  auto* const block = ::new (p) free_block;
  block->next = &no_block;
  block->depth = 1;
  depot.put(size, block);
  if (closed_) close();
}

void* frame_pool::cut(std::size_t size) {
  static constexpr std::size_t slab_bytes = 64 * 1024;
  close_frames_at_the_end();
  std::size_t const bytes = block_size::bytes(size);
  auto const has_room = [&] {
    if (bytes > block_size::small) slab_.align(block_size::line);  // to a cache line (POOL-5)
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

void* frame_pool::restock(shelf& s, std::size_t size) {
  note_list(size);
  free_block* first = std::exchange(s.spare, &no_block);
  if (!first->next) {
    first = depot.take(size);
    if (!first) return cut(size);
    close_frames_at_the_end();
    blocks_ += first->depth;
  }
  s.first = first->next;
  if (closed_) close();
  return first;
}

/// Called when a list has no credit left: gives it new credit, and hands blocks that are too many
/// to the depot (POOL-1).  False if the thread has ended, and keeps no block.
bool frame_pool::renew_credit(shelf& s, std::size_t size) noexcept {
  close_frames_at_the_end();
  if (closed_) return false;
  note_list(size);
  s.credit = credit_of(size);
  deaths_ += s.credit;
  auto const hand_over = [this, size](free_block* list) {
    if (!list->next) return;
    blocks_ -= list->depth;
    depot.put(size, list);
  };
  if (s.first->depth >= 2 * std::int64_t{s.credit}) {
    free_block* last = s.first;  // of the `credit` blocks that stay
    for (last->depth = s.credit; last->depth != 1; last = last->next)
      last->next->depth = last->depth - 1;
    hand_over(std::exchange(last->next, &no_block));
  } else {
    hand_over(s.spare);
    s.spare = std::exchange(s.first, &no_block);
  }
  return true;
}

// ---- all lists

frame_count frame_pool::count() const noexcept {
  std::int64_t deaths = deaths_;
  std::int64_t alive = blocks_;
  for (frame_arena const* a = arenas_ ? in_arenas_->first : nullptr; a; a = a->next()) {
    deaths += a->deaths();
    alive += static_cast<std::int64_t>(a->alive());
  }
  for (auto const& s : kept()) {
    deaths -= s.credit;
    alive -= s.first->depth + s.spare->depth;
  }
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
  blocks_ = deaths_ = 0;
  auto& all = kept();
  for (std::size_t size = 0; size != block_sizes; ++size)
    for (auto* const list : {all[size].first, all[size].spare})
      if (list->next) depot.put(size, list);
  all = {};
  frame_count const counted = count();  // of the blocks in arenas
  deaths_ = -counted.deaths;
  blocks_ = -counted.alive();
  depot.put(std::exchange(slab_, {}));
  if (arenas_ != 0) return;
  table_ = nullptr;
  delete std::exchange(in_arenas_, nullptr);
}

}  // namespace weft::detail
