// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "weft/deque/detail/tier.hpp"
#include "weft/deque/detail/tier_pop.hpp"

/// Search, split and replacement by index: one step in each tier, so O(log n).
namespace weft::detail {

template <class E, class T, class P>
auto tier<E, T, P>::run_of(std::size_t i) const noexcept -> run {
  if (i < front_.size()) return {front_.at(front_.begin), front_.size(), 0};
  std::size_t before = front_.size();
  i -= before;
  if (below_) {
    if (i < below_->count * full) {
      std::size_t const nth = i / full;
      auto const found = below_->chunks.run_of(nth);
      return {cells::at(*found.first[nth - found.index], 0), full, before + nth * full};
    }
    before += below_->count * full;
    i -= below_->count * full;
  }
  if (i < back_.size()) return {back_.at(back_.begin), back_.size(), before};
  return {nullptr, 0, before + i};
}

template <class E, class T, class P>
tier<E, T, P> tier<E, T, P>::split_off(std::size_t i) {
  tier rest(height());
  // Both sides of a split share a leaf.  A chunk of chunks is copied for each side: if it were
  // shared, each side would keep the chunks of the other alive.  A side whose part is empty
  // releases the chunk (TIER-4).
  auto const part = [](window const& whole, slot b, slot e) {
    if (b == e) return window();
    if constexpr (cells::is_leaf)
      return window(whole.chunk, b, e);
    else
      return window(cells::transfer(*whole.chunk, b, e, whole.chunk->capacity, b), b, e);
  };
  auto const cut = [&part](window const whole, std::size_t n, window& left, window& right) {
    slot const at = whole.begin + static_cast<slot>(n);
    left = part(whole, whole.begin, at);
    right = part(whole, at, whole.end);
  };

  if (i <= front_.size()) {
    cut(std::move(front_), i, front_, rest.front_);
    rest.below_ = std::move(below_);
    rest.back_ = std::move(back_);
    return rest;
  }
  i -= front_.size();
  std::size_t const inside = below_ ? below_->count * full : 0;
  if (i >= inside) {
    cut(std::move(back_), i - inside, back_, rest.back_);
    return rest;
  }

  own_below();
  std::size_t const nth = i / full;
  std::size_t const after = below_->count - nth - 1;
  auto chunks = below_->chunks.split_off(nth);
  owner middle = chunks.template pop<side::front>("split");
  if (after != 0) rest.below_ = lower_tier<T, P>::make(after, std::move(chunks));
  if (nth != 0)
    below_->count = nth;
  else
    below_ = {};
  rest.back_ = std::move(back_);
  back_ = window();
  cut(window(std::move(middle), 0, full), i % full, back_, rest.front_);
  return rest;
}

template <class E, class T, class P>
auto tier<E, T, P>::own_way_to(std::size_t i) -> element_place {
  auto const in_window = [](window& w, std::size_t n) {
    return element_place{&w.chunk, w.begin, w.end, w.begin + static_cast<slot>(n)};
  };
  if (i < front_.size()) return in_window(front_, i);
  i -= front_.size();
  if (below_) {
    if (i < below_->count * full) {
      own_below();
      auto const node = below_->chunks.own_way_to(i / full);
      chunk<owner, T, P>::own(*node.chunk, node.begin, node.end);
      owner& c = *chunk<owner, T, P>::at(**node.chunk, node.at);
      return {&c, 0, full, static_cast<slot>(i % full)};
    }
    i -= below_->count * full;
  }
  return in_window(back_, i);
}

template <class E, class T, class P>
template <class Make>
void tier<E, T, P>::replace(std::size_t i, Make make) {
  auto const found = run_of(i);
  E const& old = found.first[i - found.index];
  // Call `make` before unsharing any chunk: it may copy the deque, and so share the chunks again.
  if constexpr (cells::moves_safely) {
    E element(make(old));
    element_place const p = own_way_to(i);
    cells::own(*p.chunk, p.begin, p.end);
    E* const there = cells::at(**p.chunk, p.at);
    std::destroy_at(there);
    std::construct_at(there, std::move(element));
  } else {  // E can only be copied: copy the whole run into a fresh chunk
    element_place const from = own_way_to(i);
    owner const whole = *from.chunk;
    owner fresh = cells::make(whole->capacity, whole->height, from.begin);
    for (slot at = from.begin; at != from.end; ++at) {
      if (at == from.at)
        ::new (static_cast<void*>(cells::at(*fresh, at))) E(make(old));
      else
        std::construct_at(cells::at(*fresh, at), std::as_const(*cells::at(*whole, at)));
      fresh->high.set(at + 1);
    }
    *own_way_to(i).chunk = std::move(fresh);
  }
}

}  // namespace weft::detail
