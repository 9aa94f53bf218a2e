// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "deque/detail/tier.hpp"
#include "deque/detail/tier_pop.hpp"

/// Finding, cutting and replacing by index: one step a tier, so log n.
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
  // Both sides of a cut see the one chunk; a side that sees nothing of it lets it go (T4).
  auto const cut = [](window whole, std::size_t n, window& left, window& right) {
    slot const at = whole.begin + static_cast<slot>(n);
    left = at == whole.begin ? window() : window(whole.chunk, whole.begin, at);
    right = at == whole.end ? window() : window(whole.chunk, at, whole.end);
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

/// Replaces the element in slot `i` of `c`, on which a version sees [b, e).
template <class E, class T, class P, class Make>
void replace_in(chunk_owner<T, P>& c, slot b, slot e, slot i, Make& make) {
  using cells = chunk<E, T, P>;
  E* const old = cells::at(*c, i);
  if constexpr (cells::moves_safely) {
    E element(make(std::as_const(*old)));
    if (!c->owners.only_one()) {
      c = cells::transfer(*c, b, e, c->capacity, b);
    }
    E* const place = cells::at(*c, i);
    std::destroy_at(place);
    std::construct_at(place, std::move(element));
  } else {  // only ever copied: build [b, i), the new one and (i, e) aside
    auto fresh = cells::make(c->capacity, c->height, b);
    for (slot at = b; at != e; ++at) {
      if (at == i)
        ::new (static_cast<void*>(cells::at(*fresh, at))) E(make(std::as_const(*old)));
      else
        std::construct_at(cells::at(*fresh, at), std::as_const(*cells::at(*c, at)));
      fresh->high.set(at + 1);
    }
    c = std::move(fresh);
  }
}

template <class E, class T, class P>
template <class Make>
void tier<E, T, P>::replace(std::size_t i, Make make) {
  auto const in_window = [&](window& w) {
    slot const at = w.begin + static_cast<slot>(i);
    replace_in<E, T, P>(w.chunk, w.begin, w.end, at, make);
  };
  if (i < front_.size()) return in_window(front_);
  i -= front_.size();
  if (below_) {
    if (i < below_->count * full) {
      own_below();
      owner& c = below_->chunks.unshared(i / full);
      return replace_in<E, T, P>(c, 0, full, static_cast<slot>(i % full), make);
    }
    i -= below_->count * full;
  }
  in_window(back_);
}

template <class E, class T, class P>
E& tier<E, T, P>::unshared(std::size_t i) {
  auto const in_chunk = [](owner& c, slot b, slot e, slot at) -> E& {
    if (!c->owners.only_one()) c = cells::transfer(*c, b, e, c->capacity, b);
    return *cells::at(*c, at);
  };
  auto const in_window = [&](window& w) -> E& {
    return in_chunk(w.chunk, w.begin, w.end, w.begin + static_cast<slot>(i));
  };
  if (i < front_.size()) return in_window(front_);
  i -= front_.size();
  if (below_) {
    if (i < below_->count * full) {
      own_below();
      return in_chunk(below_->chunks.unshared(i / full), 0, full, static_cast<slot>(i % full));
    }
    i -= below_->count * full;
  }
  return in_window(back_);
}

}  // namespace weft::detail
