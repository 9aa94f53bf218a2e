// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "weft/deque/persistent_deque.hpp"

namespace weft::detail {

/// Checks the invariants of a deque.  For tests only.  O(n).
struct invariants {
  /// The invariant of chunk.hpp or tier.hpp that is violated; null if all hold.
  template <class T, class P>
  static char const* broken(persistent_deque<T, P> const& d) {
    return broken_in(d.top_, 0);
  }

 private:
  template <class E, class T, class P>
  static char const* broken_in(tier<E, T, P> const& t, unsigned height) {
    using cells = chunk<E, T, P>;
    if (t.height_ != height) return "a tier knows its height";
    bool const deep = t.below_ || (t.front_.chunk && t.back_.chunk);
    for (auto const* w : {&t.front_, &t.back_}) {
      if (!w->chunk) {
        if (!w->empty()) return "T4: a window without a chunk is empty";
        continue;
      }
      auto& c = *w->chunk;
      if (c.height != height) return "C3: a chunk has the height of its tier";
      if (c.low.get() > w->begin || w->begin > w->end || w->end > c.high.get() ||
          c.high.get() > c.capacity)
        return "C1: a window lies within what is constructed";
      if (w->empty() && !w->alone()) return "T4: a spare chunk has one owner";
      if (deep && c.capacity != cells::full) return "T1: chunks at both ends are of full capacity";
      if constexpr (!cells::is_leaf)
        for (slot i = w->begin; i != w->end; ++i) {
          auto& inner = **w->at(i);
          if (inner.height + 1u != height || inner.low.get() != 0 ||
              inner.high.get() != inner.capacity || inner.capacity != full_below<T, P>(height))
            return "T2: a chunk in the tier below is full";
        }
    }
    if (deep && t.front_.chunk && t.front_.end != cells::full)
      return "T1: the front window ends at its chunk's end";
    if (deep && t.back_.chunk && t.back_.begin != 0) return "T1: the back window begins at 0";
    if (!t.below_) return nullptr;
    if (t.below_->count == 0) return "T5: a tier below holds something";
    if (t.below_->count != t.below_->chunks.size()) return "a tier below counts its chunks";
    return broken_in(t.below_->chunks, height + 1);
  }

  template <class T, class P>
  static constexpr slot full_below(unsigned height) {
    return height == 1 ? chunk<T, T, P>::full : chunk<chunk_owner<T, P>, T, P>::full;
  }
};

}  // namespace weft::detail
