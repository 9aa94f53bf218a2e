// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

/// Knows the blocks of frames, while some of them may have to be copied (copied_chain.hpp).
///
///   W1  While anybody watches, each block that this thread takes from its pool is in the table,
///       with its size, until it is given back.
///   W2  A block that copies refer to has a claim.  When its frame dies it stays where it is, so
///       that the frame can come back there; it is given back with the last copy.
namespace weft::detail {

/// W2.  Where copies of a frame come from and go back to.
struct block_claim {
  void* block;
  std::uint32_t bytes;
  std::uint32_t copies = 0;
  bool alive = true;  // there is a frame in it
};

/// One thread.
class frame_watch {
 public:
  /// W1.  May throw std::bad_alloc.
  void born(void* block, std::size_t bytes) {
    if (2 * (size_ + 1) > places()) grow();
    insert({block, static_cast<std::uint32_t>(bytes), false, nullptr});
    ++size_;
  }
  /// False if it is to be kept (W2).
  [[nodiscard]] bool died(void* block) noexcept {
    if (block == expected_) return false;
    entry* const e = find(block);
    if (!e) return true;  // older than our watch
    if (e->claim) {
      e->claim->alive = false;
      return false;
    }
    erase(e);
    return true;
  }
  /// The frame of `c` is about to die: then there is nothing to look for.  Null: none is.
  void expect_death(block_claim* c) noexcept {
    expected_ = c ? c->block : nullptr;
    if (c) c->alive = false;
  }
  /// The frame that was born there last owns what cannot be copied.
  void mark_owning(void* block) noexcept {
    if (entry* const e = find(block)) e->owns = true;
  }

  struct found {
    block_claim* claim;  // null: a block that we do not know
    bool owns;
  };
  /// For one more copy (W2).
  [[nodiscard]] found claim(void* block) {
    entry* const e = find(block);
    if (!e) return {nullptr, false};
    if (!e->claim) e->claim = make_claim(block, e->bytes);
    return {e->claim, e->owns};
  }
  /// The last copy has gone.  True if its block is to be given back.
  [[nodiscard]] bool release(block_claim& c) noexcept {
    entry* const e = find(c.block);
    bool const is_free = !c.alive;
    e->claim = nullptr;
    if (is_free) erase(e);
    spare_.push_back(&c);  // there is room: make_claim() saw to it
    return is_free;
  }
  /// Nobody watches any more, and there are no claims.
  void forget() noexcept {
    if (size_ == 0) return;
    for (std::size_t i = 0; i != places(); ++i) table_[i] = {};
    size_ = 0;
  }

 private:
  struct entry {
    void* block = nullptr;
    std::uint32_t bytes = 0;
    bool owns = false;
    block_claim* claim = nullptr;
  };

  // Open addressing with linear probing, at most half full (Knuth, TAOCP 6.4, algorithms L and R).

  [[nodiscard]] std::size_t place_of(void const* block) const noexcept {
    auto const bits = reinterpret_cast<std::uintptr_t>(block) >> 4;
    return (bits * 0x9E3779B97F4A7C15u >> 32) & mask_;
  }
  [[nodiscard]] std::size_t places() const noexcept { return mask_ + 1; }
  [[nodiscard]] std::size_t next(std::size_t i) const noexcept { return (i + 1) & mask_; }
  [[nodiscard]] entry* find(void const* block) noexcept {
    for (std::size_t i = place_of(block); table_[i].block; i = next(i))
      if (table_[i].block == block) return &table_[i];
    return nullptr;
  }
  void insert(entry const& e) noexcept {
    std::size_t i = place_of(e.block);
    while (table_[i].block) i = next(i);
    table_[i] = e;
  }
  void erase(entry* e) noexcept {
    auto hole = static_cast<std::size_t>(e - table_.get());
    for (std::size_t i = next(hole); table_[i].block; i = next(i)) {
      std::size_t const home = place_of(table_[i].block);
      if (((i - home) & mask_) < ((i - hole) & mask_)) continue;  // it stands where it must
      table_[hole] = table_[i];
      hole = i;
    }
    table_[hole] = {};
    --size_;
  }
  void grow() {
    std::size_t const before = places();
    std::unique_ptr<entry[]> const old =
        std::exchange(table_, std::make_unique<entry[]>(2 * before));
    mask_ = 2 * before - 1;
    for (std::size_t i = 0; i != before; ++i)
      if (old[i].block) insert(old[i]);
  }

  block_claim* make_claim(void* block, std::uint32_t bytes) {
    if (spare_.empty()) {
      if (spare_.capacity() <= claims_.size()) spare_.reserve(2 * claims_.size() + 16);
      spare_.push_back(&claims_.emplace_back());
    }
    block_claim* const c = spare_.back();
    spare_.pop_back();
    *c = {block, bytes};
    return c;
  }

  std::size_t mask_ = 63;  // of places, whose number is a power of two
  std::size_t size_ = 0;
  std::unique_ptr<entry[]> table_ = std::make_unique<entry[]>(64);
  void* expected_ = nullptr;
  std::deque<block_claim> claims_;
  std::vector<block_claim*> spare_;
};

}  // namespace weft::detail
