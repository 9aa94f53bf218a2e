// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/deque/detail/counted.hpp"

/// A chunk: a reference-counted block of `capacity` slots, of which a contiguous run is
/// constructed.
///
///   CHUNK-1  The constructed slots are [low, high).  Every version's window on the chunk lies
///       within them.
///   CHUNK-2  While the chunk has several owners, `low` only falls and `high` only rises, so each
///       slot is constructed at most once.
///   CHUNK-3  Height 0 holds the user's elements.  Height h > 0 holds pointers to chunks of height
///       h - 1, each of them full.
namespace weft::detail {

using slot = std::uint32_t;  // a place in a chunk, counted from 0

/// `n`, or the bound that it is beyond.
constexpr slot clamped(std::size_t n, slot least, slot most) noexcept {
  return n < least ? least : n > most ? most : static_cast<slot>(n);
}

enum class side : unsigned char { front, back };
constexpr side opposite(side s) noexcept { return s == side::front ? side::back : side::front; }

template <class T, class P>
struct chunk_header {
  typename P::counts::owners owners{};
  typename P::counts::bound low{};   // CHUNK-2: only falls while the chunk is shared
  typename P::counts::bound high{};  // CHUNK-2: only rises while the chunk is shared
  std::uint16_t const capacity;
  std::uint16_t const height;

  chunk_header(slot room, unsigned h) noexcept
      : capacity(static_cast<std::uint16_t>(room)), height(static_cast<std::uint16_t>(h)) {}

  static void destroy(chunk_header* header) noexcept;  // recurses at most `height` deep

  template <side S>
  auto& bound() noexcept {
    if constexpr (S == side::front)
      return low;
    else
      return high;
  }
};

/// A counted pointer: one owner of a chunk of any height.  The elements of a chunk of chunks have
/// this type.
template <class T, class P>
using chunk_owner = counted<chunk_header<T, P>>;

/// The layout of elements `E` in a chunk of a deque of `T`.
template <class E, class T, class P>
struct chunk {
  using header = chunk_header<T, P>;
  static constexpr bool is_leaf = std::is_same_v<E, T>;

  /// Whether elements may be moved from slot to slot.  If a move could throw, it might leave a
  /// version half changed.
  static constexpr bool moves_safely = std::is_nothrow_move_constructible_v<E>;

  /// Whether a push may construct an element in a shared chunk, in a slot that no version covers.
  /// Never in a chunk of chunks: a chunk that a version put there would outlive that version, with
  /// all that it holds.
  static constexpr bool claims_slots = is_leaf && !P::elements_own_versions;

  static_assert(std::is_nothrow_destructible_v<E>,
                "weft: an element of a persistent_deque must not throw when it is destroyed");
  static_assert(
      moves_safely || std::is_copy_constructible_v<E>,
      "weft: an element of a persistent_deque must move without throwing, or be copyable");

  /// The size of a full chunk: a power of two, so that an index is divided by a shift.
  static constexpr slot full =
      is_leaf ? clamped(std::bit_floor(P::leaf_bytes / sizeof(E)), 4, 64) : 32;

  /// The capacity of a chunk for `n` elements that is the only chunk of its tier: `n` rounded up to
  /// a power of two, and at least 8 in a leaf, 4 in a chunk of chunks.
  static constexpr slot capacity_for(slot n) noexcept {
    return clamped(std::bit_ceil(n), clamped(is_leaf ? 8 : 4, 0, full), full);
  }

  static E* at(header& h, slot i) noexcept {
    auto* const bytes = reinterpret_cast<std::byte*>(&h) + offset;
    return std::launder(reinterpret_cast<E*>(bytes)) + i;
  }

  /// Makes an empty chunk with both bounds at `start`.
  static chunk_owner<T, P> make(slot capacity, unsigned height, slot start) {
    void* const memory = P::memory::allocate(bytes(capacity), alignment);
    auto* const h = ::new (memory) header(capacity, height);
    h->low.set(start);
    h->high.set(start);
    return chunk_owner<T, P>(h);
  }

  static void destroy(header* h) noexcept {
    std::destroy(at(*h, h->low.get()), at(*h, h->high.get()));
    auto const size = bytes(h->capacity);
    h->~header();
    P::memory::deallocate(h, size, alignment);
  }

  /// For an only owner whose window is [b, e): destroys the elements outside the window, which only
  /// destroyed versions could see.
  static void trim(header& h, slot b, slot e) noexcept {
    std::destroy(at(h, h.low.get()), at(h, b));
    h.low.set(b);
    std::destroy(at(h, e), at(h, h.high.get()));
    h.high.set(e);
  }

  /// Moves the elements [b, e) of a trimmed chunk with one owner so that they begin at `to`.
  static void slide(header& h, slot b, slot e, slot to) noexcept
    requires moves_safely
  {
    auto const move_one = [&](slot from, slot dest) {
      std::construct_at(at(h, dest), std::move(*at(h, from)));
      std::destroy_at(at(h, from));
    };
    slot const n = e - b;
    if (to < b) {
      for (slot i = 0; i != n; ++i) move_one(b + i, to + i);
    } else {
      for (slot i = n; i-- != 0;) move_one(b + i, to + i);
    }
    h.low.set(to);
    h.high.set(to + n);
  }

  /// If the chunk is shared, replaces it by a copy of [b, e) that has one owner.
  static void own(chunk_owner<T, P>& c, slot b, slot e) {
    if (!c->owners.only_one()) c = transfer(*c, b, e, c->capacity, b);
  }

  /// A new chunk with the elements [b, e) of `h`, beginning at `to`.  They are moved if `h` has one
  /// owner and a move cannot throw, else copied.  If a copy throws, `h` is unchanged.
  static chunk_owner<T, P> transfer(header& h, slot b, slot e, slot capacity, slot to) {
    auto fresh = make(capacity, h.height, to);
    auto const append = [&](auto&& element) {
      slot const end = fresh->high.get();
      std::construct_at(at(*fresh, end), std::forward<decltype(element)>(element));
      fresh->high.set(end + 1);
    };
    if constexpr (moves_safely) {
      if (h.owners.only_one()) {
        for (slot i = b; i != e; ++i) append(std::move(*at(h, i)));
        return fresh;
      }
    }
    if constexpr (std::is_copy_constructible_v<E>)
      for (slot i = b; i != e; ++i) append(std::as_const(*at(h, i)));
    return fresh;
  }

 private:
  static constexpr std::align_val_t alignment{alignof(header) < alignof(E) ? alignof(E)
                                                                           : alignof(header)};
  static constexpr std::size_t offset = (sizeof(header) + alignof(E) - 1) / alignof(E) * alignof(E);
  static constexpr std::size_t bytes(slot capacity) noexcept {
    return offset + capacity * sizeof(E);
  }
};

template <class T, class P>
void chunk_header<T, P>::destroy(chunk_header* header) noexcept {
  if (header->height == 0)
    chunk<T, T, P>::destroy(header);
  else
    chunk<chunk_owner<T, P>, T, P>::destroy(header);
}

}  // namespace weft::detail
