// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "weft/deque/detail/chunk.hpp"

/// The structure of a persistent_deque: a finger tree of chunks.
///
/// A tier has a window on a chunk at the front, a window on a chunk at the back, and between them a
/// tier below, whose elements are the full chunks of this tier.  The deque is the tier at height 0.
/// A tier below is reference-counted and may belong to many versions.
///
///   TIER-1  If there is a tier below, or both windows have a chunk: the chunks of the windows have
///       full capacity, the front window ends at its chunk's end, and the back window begins at 0.
///   TIER-2  Every chunk in the tier below is full, so an index is found by division.
///   TIER-3  If TIER-1 does not apply, at most one window has a chunk; it has any capacity, and the
///       window lies anywhere in it.
///   TIER-4  An empty window may keep a chunk, a spare, only if it is the chunk's only owner.  A
///       copy of the tier does not get the spare.
///   TIER-5  A tier below is never empty.
///   TIER-6  The only owner of a chunk destroys the elements outside its window before it
///       constructs or moves elements in their slots.
///
/// A push constructs in place if the next slot of the leaf has never been used, even in a leaf with
/// many owners: no older version's window covers the slot (the slot claim of P. Bagwell's VList,
/// "Fast Functional Lists, Hash-Lists, Deques and Variable Length Arrays", 2002).  So of the pushes
/// onto one old version, the first copies nothing; each later one copies a leaf.  Shared chunks of
/// chunks are copied before they change.  So for each version, less than two leaves of elements can
/// outlive the versions whose windows cover them.
///
/// Chunks at both ends, with full ones between, are the shape of R. Hinze and R. Paterson, "Finger
/// trees: a simple general-purpose data structure", doi:10.1017/S0956796805005769.
namespace weft::detail {

struct invariants;
template <class T, class P>
struct lower_tier;

template <class E, class T, class P>
class tier {
  using cells = chunk<E, T, P>;
  using header = typename cells::header;
  using owner = chunk_owner<T, P>;
  static constexpr slot full = cells::full;

 public:
  tier() = default;
  explicit tier(unsigned h) noexcept : height_(h) {}
  tier(tier const& other) noexcept : below_(other.below_), height_(other.height_) {
    if (!other.front_.empty()) front_ = other.front_;  // TIER-4: without spares
    if (!other.back_.empty()) back_ = other.back_;
  }
  tier(tier&&) = default;
  tier& operator=(tier other) noexcept {
    swap(other);
    return *this;
  }
  void swap(tier& other) noexcept {
    front_.swap(other.front_);
    back_.swap(other.back_);
    below_.swap(other.below_);
    std::swap(height_, other.height_);
  }
  ~tier() = default;

  [[nodiscard]] bool empty() const noexcept { return front_.empty() && back_.empty() && !below_; }
  [[nodiscard]] std::size_t size() const noexcept {
    return front_.size() + back_.size() + (below_ ? below_->count * full : 0);
  }

  /// Adds E(args...) at the end S.  If it throws, the tier is unchanged.  If the only argument is
  /// an rvalue `E`, and `E` moves without throwing, the argument is moved from only after the last
  /// step that can throw.
  template <side S, class... Args>
  void emplace(Args&&... args);

  /// emplace() if that only moves the edge of a window; else returns false, and does nothing.
  template <side S, class... Args>
  bool emplace_in_place(Args&&... args) noexcept;

  /// Removes and returns the element at the end S.  If it throws, the tier holds the same elements.
  /// `R` is E, or, if a move of E may throw, a type that is constructed from the element.
  template <side S, class R = E>
  R pop(char const* operation);

  /// Removes the element at the end S by take(element), which takes over what the element owns, if
  /// that only moves the edge of a window on an unshared chunk; else returns false, and does nothing.
  template <side S, class Take>
  bool take_in_place(Take& take) noexcept;

  /// How often a push at the front and a pop at the back would both only move the edges of windows
  /// on unshared chunks.  So often rotate() may be called: it does both.
  [[nodiscard]] slot rotations() const noexcept;
  template <class... Args>
  E rotate(Args&&... args) noexcept;

  /// Removes the element at the end S.  If it throws, the tier holds the same elements.
  template <side S>
  void discard(char const* operation);

  template <side S>
  E const& peek(char const* operation) const;

  /// A run of contiguous elements, and the index of the first one.
  struct run {
    E* first;
    std::size_t size;
    std::size_t index;
  };
  /// The run that holds element `i`; an empty run if there is no such element.
  [[nodiscard]] run run_of(std::size_t i) const noexcept;

  /// Removes the elements from index `i` on, and returns them.  If it throws, the tier can only be
  /// destroyed.
  tier split_off(std::size_t i);

  /// Replaces element `i`, which must exist, by make(element).  If it throws, the tier is
  /// unchanged.
  template <class Make>
  void replace(std::size_t i, Make make);

  /// The place of an element: its chunk, the window [begin, end) on that chunk, and its slot.
  struct element_place {
    owner* chunk;
    slot begin, end, at;
  };
  /// The place of element `i`, which must exist, after the chunks on the path to its chunk have
  /// been unshared; its own chunk may still be shared.
  element_place own_way_to(std::size_t i);

 private:
  friend struct invariants;  // deque/detail/invariants.hpp

  struct window {
    owner chunk{};
    slot begin = 0, end = 0;

    window() = default;
    window(owner c, slot b, slot e) noexcept : chunk(std::move(c)), begin(b), end(e) {}
    window(window const&) = default;
    window(window&& other) noexcept
        : chunk(std::move(other.chunk)),
          begin(std::exchange(other.begin, 0)),
          end(std::exchange(other.end, 0)) {}
    window& operator=(window other) noexcept {
      swap(other);
      return *this;
    }
    ~window() = default;
    void swap(window& other) noexcept {
      chunk.swap(other.chunk);
      std::swap(begin, other.begin);
      std::swap(end, other.end);
    }

    [[nodiscard]] slot size() const noexcept { return end - begin; }
    [[nodiscard]] bool empty() const noexcept { return begin == end; }
    [[nodiscard]] bool alone() const noexcept { return chunk->owners.only_one(); }
    [[nodiscard]] E* at(slot i) const noexcept { return cells::at(*chunk, i); }
    void trim() const noexcept { cells::trim(*chunk, begin, end); }

    template <side S>
    [[nodiscard]] slot& edge() noexcept {
      if constexpr (S == side::front)
        return begin;
      else
        return end;
    }
    template <side S>
    [[nodiscard]] bool has_room() const noexcept {
      return S == side::front ? begin != 0 : end != chunk->capacity;
    }
    /// The outermost element at S.
    template <side S>
    [[nodiscard]] E* last() const noexcept {
      return at(S == side::front ? begin : end - 1);
    }
  };

  template <side S>
  window& at_end() noexcept {
    if constexpr (S == side::front)
      return front_;
    else
      return back_;
  }
  [[nodiscard]] bool at_most_one_chunk() const noexcept {  // the condition of TIER-3
    return !below_ && !(front_.chunk && back_.chunk);
  }
  /// The slot at which the window on an empty chunk starts if it will grow towards S.
  template <side S>
  static constexpr slot start(slot capacity) noexcept {
    return S == side::front ? capacity : 0;
  }
  /// The slot of the first of `n` elements, so that all free slots are at S.
  template <side S>
  static constexpr slot flush(slot capacity, slot n) noexcept {
    return S == side::front ? capacity - n : 0;
  }

  template <side S, class Make>
  static bool extend(window& w, Make& make);
  template <side S, class Make>
  static void build(window& w, Make& make);
  template <side S, class Make>
  void push_slow(Make& make);
  template <side S>
  window moved_inward(window& w, slot capacity) const;
  template <side S>
  window fresh(slot capacity) const;

  template <side S>
  window& reach(char const* operation);
  template <side S>
  window& reach_slow(char const* operation);
  template <side S>
  static E pop_slow(window& w);
  template <side S>
  static void retreat(window& w) noexcept;
  template <side S>
  static void narrow(window& w) noexcept;
  template <side S>
  static void drop(window& w) noexcept;

  void own_below();
  template <side S>
  void push_below(owner&& c);
  template <side S>
  owner pop_below();

  [[nodiscard]] unsigned height() const noexcept { return height_; }

  window front_;
  window back_;
  counted<lower_tier<T, P>> below_;
  struct zero {
    zero() = default;
    explicit zero(unsigned) noexcept {}
    operator unsigned() const noexcept { return 0; }
  };
  [[no_unique_address]] std::conditional_t<cells::is_leaf, zero, unsigned> height_{};
};

/// A tier below, reference-counted, since versions share it.
template <class T, class P>
struct lower_tier {
  using inner = tier<chunk_owner<T, P>, T, P>;
  typename P::counts::owners owners{};
  std::size_t count = 0;  // chunks in `chunks`; written only where the tier has one owner
  inner chunks;

  lower_tier(std::size_t n, inner c) noexcept : count(n), chunks(std::move(c)) {}

  static counted<lower_tier> make(std::size_t n, inner c) {
    void* const memory =
        P::memory::allocate(sizeof(lower_tier), std::align_val_t(alignof(lower_tier)));
    return counted<lower_tier>(::new (memory) lower_tier(n, std::move(c)));
  }
  static void destroy(lower_tier* t) noexcept {  // recurses as deep as the tiers: log n
    t->~lower_tier();
    P::memory::deallocate(t, sizeof(lower_tier), std::align_val_t(alignof(lower_tier)));
  }
};

/// Unshares the tier below, before a change to it.
template <class E, class T, class P>
void tier<E, T, P>::own_below() {
  if (!below_->owners.only_one()) below_ = lower_tier<T, P>::make(below_->count, below_->chunks);
}

}  // namespace weft::detail
