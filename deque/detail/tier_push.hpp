// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "weft/deque/detail/tier.hpp"

/// Push at an end of a tier.  The common case is a few instructions; the other cases are noinline.
/// Each constructs the new parts aside, and installs them by steps that cannot throw.
namespace weft::detail {

/// Constructs an element beyond the edge S, if a slot is free there and this version may use it;
/// else returns false.
template <class E, class T, class P>
template <side S, class Make>
bool tier<E, T, P>::extend(window& w, Make& make) {
  if (!w.template has_room<S>()) return false;
  header& h = *w.chunk;
  auto& bound = h.template bound<S>();
  slot const from = w.template edge<S>();
  slot const to = S == side::front ? from - 1 : from + 1;
  E* const place = w.at(S == side::front ? to : from);

  // Claim the slot before constructing: the constructor may itself push to a version of this deque.
  if (!cells::claims_slots && !w.alone()) return false;
  if (!P::counts::between_threads || w.alone()) {
    if (bound.get() != from) return false;  // another version, perhaps destroyed, has used the slot
    bound.set(to);
  } else {
    if (!bound.claim(from, to)) return false;
  }
  if constexpr (noexcept(make(place))) {
    make(place);
  } else {
    try {
      make(place);
    } catch (...) {
      // No other version can have moved the bound: only one with its edge at `to` could.
      bound.set(from);
      throw;
    }
  }
  w.template edge<S>() = to;
  return true;
}

/// Constructs an element in the slot beyond the edge S of the window.  The chunk has one owner, no
/// constructed slot outside the window, and a free slot there.
template <class E, class T, class P>
template <side S, class Make>
void tier<E, T, P>::build(window& w, Make& make) {
  slot& edge = w.template edge<S>();
  slot const to = S == side::front ? edge - 1 : edge + 1;
  make(w.at(S == side::front ? to : edge));
  w.chunk->template bound<S>().set(to);
  edge = to;
}

template <class E, class T, class P>
template <side S, class... Args>
void tier<E, T, P>::emplace(Args&&... args) {
  auto make = [&](E* place) noexcept(std::is_nothrow_constructible_v<E, Args...>) {
    std::construct_at(place, std::forward<Args>(args)...);
  };
  window& w = at_end<S>();
  if (w.chunk) [[likely]]
    if (extend<S>(w, make)) [[likely]]
      return;

  constexpr bool is_move = sizeof...(Args) == 1 && (std::is_same_v<Args, E> && ...);
  if constexpr (cells::moves_safely && !is_move) {
    // Construct first, in case `args` refers to an element that is about to be moved.
    E element(std::forward<Args>(args)...);
    auto move_in = [&](E* place) noexcept { std::construct_at(place, std::move(element)); };
    push_slow<S>(move_in);
  } else {
    push_slow<S>(make);
  }
}

template <class E, class T, class P>
template <side S, class... Args>
[[gnu::always_inline]] inline bool tier<E, T, P>::emplace_in_place(Args&&... args) noexcept {
  static_assert(std::is_nothrow_constructible_v<E, Args...>);
  auto make = [&](E* place) noexcept { std::construct_at(place, std::forward<Args>(args)...); };
  window& w = at_end<S>();
  return w.chunk && extend<S>(w, make);
}

template <class E, class T, class P>
template <side S, class Make>
[[gnu::noinline]] void tier<E, T, P>::push_slow(Make& make) {
  window& here = at_end<S>();
  window& there = at_end<opposite(S)>();
  bool const single = at_most_one_chunk();
  window& w = single && there.chunk ? there : here;

  if (w.empty()) {
    window w1 = w.chunk ? std::move(w) : fresh<S>(single ? cells::capacity_for(1) : full);
    w1.trim();
    slot const at = start<S>(w1.chunk->capacity);
    w1.chunk->low.set(at);
    w1.chunk->high.set(at);
    w1.begin = w1.end = at;
    build<S>(w1, make);
    here = std::move(w1);
    return;
  }

  if (single && &w == &there && extend<S>(w, make)) return;

  if (w.template has_room<S>()) {  // a slot is free, but extend() may not use it
    if (w.alone()) {
      w.trim();
      build<S>(w, make);
    } else {
      window w1 = moved_inward<S>(w, single ? cells::capacity_for(2 * w.size()) : full);
      build<S>(w1, make);
      w = std::move(w1);
    }
    return;
  }

  if (!single) {  // TIER-1: the chunk is full
    window w1 = fresh<S>(full);
    if constexpr (noexcept(make(w1.at(0)))) {
      push_below<S>(std::move(here.chunk));
      build<S>(w1, make);
    } else {
      build<S>(w1, make);
      push_below<S>(std::move(here.chunk));
    }
    here = std::move(w1);
    return;
  }

  if (w.size() > full / 2) {  // the capacity, a power of two above full / 2, is `full`
    window w1 = fresh<S>(full);
    build<S>(w1, make);
    if (&w == &here) there = std::move(w);
    here = std::move(w1);
    return;
  }

  if constexpr (cells::moves_safely) {
    if (w.size() <= w.chunk->capacity / 2 && w.alone()) {
      w.trim();
      slot const n = w.size();
      slot const to = flush<S>(w.chunk->capacity, n);
      cells::slide(*w.chunk, w.begin, w.end, to);
      w.begin = to;
      w.end = to + n;
      build<S>(w, make);
      return;
    }
  }
  window w1 = moved_inward<S>(w, cells::capacity_for(2 * w.size()));
  build<S>(w1, make);
  w = std::move(w1);
}

/// A window on a new chunk, with the elements of `w`, and with the free slots at S.
template <class E, class T, class P>
template <side S>
auto tier<E, T, P>::moved_inward(window& w, slot capacity) const -> window {
  slot const n = w.size();
  slot const to = flush<S>(capacity, n);
  return window(cells::transfer(*w.chunk, w.begin, w.end, capacity, to), to, to + n);
}

template <class E, class T, class P>
template <side S>
auto tier<E, T, P>::fresh(slot capacity) const -> window {
  slot const at = start<S>(capacity);
  return window(cells::make(capacity, height(), at), at, at);
}

template <class E, class T, class P>
template <side S>
[[gnu::noinline]] void tier<E, T, P>::push_below(owner&& c) {
  if (!below_) {  // TIER-5: a tier below starts with one chunk
    auto first = lower_tier<T, P>::make(1, typename lower_tier<T, P>::inner(height() + 1));
    first->chunks.template emplace<S>(std::move(c));
    below_ = std::move(first);
    return;
  }
  own_below();
  below_->chunks.template emplace<S>(std::move(c));
  ++below_->count;
}

}  // namespace weft::detail
