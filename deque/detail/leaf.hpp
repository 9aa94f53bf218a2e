// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

/// The blocks that versions of a deque share: leaves, which have the elements, and the nodes of the
/// spine (spine.hpp).  Each block counts its owners.
namespace weft::detail {

using slot = std::uint32_t;  // a place in a leaf, counted from 0

enum class side : unsigned char { front, back };
constexpr side opposite(side s) noexcept { return s == side::front ? side::back : side::front; }

/// A leaf or a node, which counts its owners.  A leaf has the height 0, and a node is one higher
/// than the blocks below it.
template <class T, class P>
struct block {
  typename P::counts::owners owners{};
  std::uint16_t const height;

  explicit block(unsigned h) noexcept : height(static_cast<std::uint16_t>(h)) {}
  static void destroy(block* b) noexcept;  // in spine.hpp; recurses at most `height` deep
};

/// A counted pointer: one of several owners of a leaf or node.
template <class T, class P>
class owner {
 public:
  owner() = default;
  explicit owner(block<T, P>* born) noexcept : to_(born) {}  ///< Takes the initial count of 1.
  owner(owner const& other) noexcept : to_(other.to_) {
    if (to_) to_->owners.add();
  }
  owner(owner&& other) noexcept : to_(std::exchange(other.to_, nullptr)) {}
  owner& operator=(owner other) noexcept {
    std::swap(to_, other.to_);
    return *this;
  }
  ~owner() {
    if (to_ && to_->owners.remove()) destroy(to_);
  }

  [[nodiscard]] block<T, P>* get() const noexcept { return to_; }
  block<T, P>* operator->() const noexcept { return to_; }
  explicit operator bool() const noexcept { return to_ != nullptr; }

 private:
  // noinline: an owner is seldom the last, so this stays out of the code of its destructor.
  [[gnu::noinline]] static void destroy(block<T, P>* b) noexcept { block<T, P>::destroy(b); }

  block<T, P>* to_ = nullptr;
};

/// Slots for elements, of which a contiguous run is constructed.
///
///   LEAF-1  The constructed slots are [low, high), but for a slot that a constructor is at work
///       in.  The window of every version on the leaf lies within the constructed slots.
///   LEAF-2  While the leaf has several owners, `low` only falls and `high` only rises, unless a
///       constructor throws: so each slot is constructed at most once.
template <class T, class P>
struct leaf : block<T, P> {
  /// Whether elements may be moved from slot to slot.  If a move could throw, it might leave a
  /// version half changed; so such elements are only ever copied.
  static constexpr bool moves_safely = std::is_nothrow_move_constructible_v<T>;
  static constexpr bool copyable = std::is_copy_constructible_v<T>;

  static_assert(std::is_nothrow_destructible_v<T>,
                "weft: an element of a persistent_deque must not throw when it is destroyed");
  static_assert(
      moves_safely || copyable,
      "weft: an element of a persistent_deque must move without throwing, or be copyable");

  /// The capacity of a full leaf: a power of two, so that an index is divided by a shift.
  static constexpr slot full = static_cast<slot>(
      std::clamp(std::bit_floor(P::leaf_bytes / sizeof(T)), std::size_t{4}, std::size_t{64}));
  /// The capacity of a leaf with `n` elements that is the only leaf of its deque.
  static constexpr slot capacity_for(slot n) noexcept {
    return std::min(std::bit_ceil(std::max(n, slot{8})), full);
  }

  std::uint16_t const capacity;
  typename P::counts::bound low{}, high{};  // the bounds of the constructed slots (LEAF-1)

  /// Makes a leaf without elements, whose bounds `low` and `high` are both `start`.
  static owner<T, P> make(slot capacity, slot start) {
    return owner<T, P>(::new (P::memory::allocate(bytes(capacity), alignment))
                           leaf(capacity, start));
  }
  /// Makes a leaf with the elements [begin, end) of `other`, from slot `to` on: they are moved if
  /// `other` has one owner and a move cannot throw, else copied.
  static owner<T, P> make_from(leaf& other, slot begin, slot end, slot capacity, slot to) {
    owner<T, P> made = make(capacity, to);
    leaf& l = in(made);
    for (bool const is_only = other.owners.only_one(); begin != end; ++begin, ++to)
      l.add(to, *other.at(begin), is_only);
    return made;
  }
  static void destroy(leaf* l) noexcept {
    l->trim(l->high.get(), l->high.get());
    std::size_t const size = bytes(l->capacity);
    l->~leaf();
    P::memory::deallocate(l, size, alignment);
  }

  static leaf& in(owner<T, P> const& o) noexcept { return static_cast<leaf&>(*o.get()); }
  T* at(slot i) noexcept {
    return std::launder(reinterpret_cast<T*>(reinterpret_cast<std::byte*>(this) + bytes(0))) + i;
  }
  template <side S>
  auto& bound() noexcept {
    if constexpr (S == side::front)
      return low;
    else
      return high;
  }

  /// Constructs R from an element: moves it if `may_move` and a move cannot throw, or if a `T`
  /// cannot be copied; else copies it.
  template <class R>
  static constexpr R taken(T& element, bool may_move) {
    if constexpr (!copyable)
      return R(std::move(element));
    else if constexpr (moves_safely)
      return may_move ? R(std::move(element)) : R(std::as_const(element));
    else
      return R(std::as_const(element));
  }
  /// Constructs an element in slot `i`, behind all others: moves or copies `element` as taken()
  /// does.
  void add(slot i, T& element, bool may_move) {
    ::new (static_cast<void*>(at(i))) T(taken<T>(element, may_move));
    high.set(i + 1);
  }
  /// Destroys the elements outside [begin, end).  Requires one owner.
  void trim(slot begin, slot end) noexcept {
    std::destroy(at(low.get()), at(begin));
    low.set(begin);
    std::destroy(at(end), at(high.get()));
    high.set(end);
  }
  /// Moves all elements so that the first is in slot `to`.  Requires one owner.
  void slide(slot to) noexcept {
    slot const from = low.get();
    slot const n = high.get() - from;
    if (to == from) return;
    for (slot k = 0; k != n; ++k) {
      slot const i = to < from ? k : n - 1 - k;  // never onto an element that is yet to be moved
      std::construct_at(at(to + i), std::move(*at(from + i)));
      std::destroy_at(at(from + i));
    }
    low.set(to);
    high.set(to + n);
  }

 private:
  leaf(slot room, slot start) noexcept
      : block<T, P>(0), capacity(static_cast<std::uint16_t>(room)) {
    low.set(start);
    high.set(start);
  }
  static constexpr std::align_val_t alignment{std::max(alignof(T), alignof(block<T, P>))};
  /// The size of a leaf for `n` elements, which begin at bytes(0).
  static constexpr std::size_t bytes(slot n) noexcept {
    return (sizeof(leaf) + alignof(T) - 1) / alignof(T) * alignof(T) + n * sizeof(T);
  }
};

}  // namespace weft::detail
