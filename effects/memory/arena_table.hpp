// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace weft::detail {

class frame_arena;

/// Finds the arena (frame_arena.hpp) in which an address lies, if there is one: a hash table of
/// pages.  Used by one thread.
///
/// Open addressing with linear probing, at most half full (Knuth, TAOCP 6.4, algorithms L and R).
class arena_table {
 public:
  static constexpr std::size_t page = 4096;

  [[nodiscard]] frame_arena* find(void const* address) const noexcept {
    std::uintptr_t const p = page_of(address);
    for (std::size_t i = place_of(p); table_[i].arena; i = next(i))
      if (table_[i].page == p) return table_[i].arena;
    return nullptr;
  }
  /// Adds the memory of an arena, which begins and ends at a boundary of pages.  If it throws
  /// std::bad_alloc, nothing is added.
  void add(void const* memory, std::size_t bytes, frame_arena& arena) {
    std::size_t const pages = bytes / page;
    while (2 * (size_ + pages) > mask_ + 1) grow();
    for (std::size_t i = 0; i != pages; ++i) insert({page_of(memory) + i, &arena});
    size_ += pages;
  }
  void remove(void const* memory, std::size_t bytes) noexcept {
    std::size_t const pages = bytes / page;
    for (std::size_t i = 0; i != pages; ++i) erase(page_of(memory) + i);
    size_ -= pages;
  }

 private:
  struct entry {
    std::uintptr_t page = 0;
    frame_arena* arena = nullptr;
  };

  static std::uintptr_t page_of(void const* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) / page;
  }
  [[nodiscard]] std::size_t place_of(std::uintptr_t p) const noexcept {
    return (p * 0x9E3779B97F4A7C15u >> 32) & mask_;
  }
  [[nodiscard]] std::size_t next(std::size_t i) const noexcept { return (i + 1) & mask_; }
  void insert(entry const& e) noexcept {
    std::size_t i = place_of(e.page);
    while (table_[i].arena) i = next(i);
    table_[i] = e;
  }
  void erase(std::uintptr_t p) noexcept {
    std::size_t hole = place_of(p);
    while (table_[hole].page != p) hole = next(hole);
    for (std::size_t i = next(hole); table_[i].arena; i = next(i)) {
      if (((i - place_of(table_[i].page)) & mask_) < ((i - hole) & mask_))
        continue;  // a search for this entry begins after the hole, cyclically: it may stay
      table_[hole] = table_[i];
      hole = i;
    }
    table_[hole] = {};
  }
  void grow() {
    std::size_t const before = mask_ + 1;
    auto larger = std::make_unique<entry[]>(2 * before);
    std::unique_ptr<entry[]> const old = std::exchange(table_, std::move(larger));
    mask_ = 2 * before - 1;
    for (std::size_t i = 0; i != before; ++i)
      if (old[i].arena) insert(old[i]);
  }

  std::size_t mask_ = 15;  // the length of table_, a power of two, less one
  std::size_t size_ = 0;
  std::unique_ptr<entry[]> table_ = std::make_unique<entry[]>(16);
};

}  // namespace weft::detail
