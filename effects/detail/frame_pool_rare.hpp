// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "effects/detail/frame_pool.hpp"

/// What the pool of frames does when a list is empty or full, when there is none, or when blocks
/// are watched.
namespace weft::detail {

// ---- M4

/// A block that is taken.
[[gnu::noinline]] inline void* frame_pool::watch_birth(void* p, std::size_t bytes) {
  try {
    watched_->watch.born(p, bytes);
  } catch (...) {
    give_unwatched(p, bytes);
    throw;
  }
  return p;
}

[[gnu::noinline]] inline void* frame_pool::take_slowly(std::size_t size) {
  if (!watchers_) return restock(shelves_[size], size);
  shelf& s = watched_->aside[size];
  void* const p = s.first ? std::exchange(s.first, s.first->next) : restock(s, size);
  return watch_birth(p, size * grain);
}
[[gnu::noinline]] inline void frame_pool::give_slowly(void* p, std::size_t size) noexcept {
  if (!watchers_ || watched_->watch.died(p)) give_unwatched(p, size * grain);
}
inline void frame_pool::give_unwatched(void* p, std::size_t bytes) noexcept {
  std::size_t const size = size_of(bytes);
  if (!pooling || size >= block_sizes) return free_to_system(p);
  shelf& s = kept()[size];
  if (s.credit == 0 && !renew_credit(s, size)) return to_depot(p, size);
  put(s, p);
}

// ---- blocks of the system

[[gnu::noinline]] inline void* frame_pool::from_system(std::size_t bytes) {
  close_frames_at_the_end();
  void* const block = ::operator new(bytes);
  ++blocks_;
  if (closed_) close();
  return watchers_ ? watch_birth(block, bytes) : block;
}
[[gnu::noinline]] inline void frame_pool::to_system(void* p) noexcept {
  if (!watchers_ || watched_->watch.died(p)) free_to_system(p);
}
inline void frame_pool::free_to_system(void* p) noexcept {
  close_frames_at_the_end();
  ++deaths_;
  --blocks_;
  if (closed_) close();
  ::operator delete(p);
}

// ---- lists

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

[[gnu::noinline]] inline void* frame_pool::restock(shelf& s, std::size_t size) {
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
[[gnu::noinline]] inline bool frame_pool::renew_credit(shelf& s, std::size_t size) noexcept {
  close_frames_at_the_end();
  if (closed_) return false;
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

}  // namespace weft::detail
