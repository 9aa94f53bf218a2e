// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "weft/deque/detail/leaf.hpp"

namespace weft::detail {

/// The part [begin, end) of a leaf that a version has at one of its ends.  `begin` is the edge of
/// the window at the front, `end` the edge at the back.
///
///   WINDOW-1  While the leaf has several owners, an element is constructed in the next slot only
///       if the slot lies outside the bounds (LEAF-1): then no other version's window covers it.
///   WINDOW-2  An element is moved or destroyed only by the only owner of its leaf.  Elements
///       beyond the edge, which only versions that have gone could see, are destroyed before the
///       edge moves.
template <class T, class P>
struct window {
  using cells = leaf<T, P>;

  owner<T, P> held{};  // the leaf; null only if the window has no elements
  slot begin = 0, end = 0;

  [[nodiscard]] slot size() const noexcept { return end - begin; }
  [[nodiscard]] bool empty() const noexcept { return begin == end; }
  [[nodiscard]] bool alone() const noexcept { return held->owners.only_one(); }
  [[nodiscard]] cells& in() const noexcept { return cells::in(held); }
  template <side S>
  [[nodiscard]] slot& edge() noexcept {
    if constexpr (S == side::front)
      return begin;
    else
      return end;
  }
  /// The outermost element at S.
  template <side S>
  [[nodiscard]] T* last() const noexcept {
    return in().at(S == side::front ? begin : end - 1);
  }
  template <side S>
  [[nodiscard]] bool has_room() const noexcept {
    return S == side::front ? begin != 0 : end != in().capacity;
  }
  /// Whether no slot beyond the edge S is constructed.
  template <side S>
  [[nodiscard]] bool is_clean() const noexcept {
    return in().template bound<S>().get() == (S == side::front ? begin : end);
  }
  void trim() const noexcept { in().trim(begin, end); }

  /// Constructs an element beyond the edge S, if there is a slot that this version may use; else
  /// returns false.
  template <side S, class Make>
  bool extend(Make& make) {
    if (!has_room<S>()) return false;
    slot const from = edge<S>();
    slot const to = S == side::front ? from - 1 : from + 1;
    auto& bound = in().template bound<S>();
    // The slot is claimed before it is constructed: the constructor may push to another version.
    if (P::elements_own_versions && !alone()) return false;
    if (!P::counts::between_threads || alone()) {
      if (!is_clean<S>()) return false;
      bound.set(to);
    } else {
      if (!bound.claim(from, to)) return false;
    }
    T* const place = in().at(S == side::front ? to : from);
    if constexpr (noexcept(make(place))) {
      make(place);
    } else {
      try {
        make(place);
      } catch (...) {
        bound.set(from);  // the bound is still `to`: no other version has its edge there
        throw;
      }
    }
    edge<S>() = to;
    return true;
  }
  /// Whether the element at S can be removed by retreat() once it is destroyed.
  template <side S>
  [[nodiscard]] bool can_retreat() const noexcept {
    return alone() && is_clean<S>();
  }
  template <side S>
  void retreat() noexcept {
    S == side::front ? ++begin : --end;
    in().template bound<S>().set(edge<S>());
  }
  /// Gives up `n` elements at S, which other owners of the leaf may have; and the leaf, if no
  /// element is left in the window.
  template <side S>
  void leave(std::size_t n) noexcept {
    S == side::front ? begin += slot(n) : end -= slot(n);
    if (empty()) *this = {};
  }

  /// Destroys the elements outside the window, which an owner that has gone may have left, and
  /// moves the others so that all room in the leaf is at S.  Returns false, and does nothing, if
  /// the leaf has other owners, or if the window has more than half of the leaf, or has elements
  /// whose move may throw.
  template <side S>
  bool slide() noexcept {
    slot const n = size();
    if (!alone() || n > (cells::moves_safely ? in().capacity / 2 : 0)) return false;
    trim();
    begin = S == side::front ? in().capacity - n : 0;
    end = begin + n;
    in().slide(begin);
    return true;
  }
  /// A window on a new leaf, with the elements of this one, and with all room at S.
  template <side S>
  window with_room(slot capacity) const {
    slot const at = S == side::front ? capacity - size() : 0;
    return {held ? cells::make_from(in(), begin, end, capacity, at) : cells::make(capacity, at), at,
            at + size()};
  }
};

}  // namespace weft::detail
