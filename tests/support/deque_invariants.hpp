// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "weft/deque/persistent_deque.hpp"

namespace weft::detail {

/// Checks the invariants of a deque.  O(n).
struct invariants {
  /// The invariant of deque/detail/ that is violated; null if all hold.
  template <class T, class P>
  static char const* broken(persistent_deque<T, P> const& d) {
    using cells = leaf<T, P>;
    auto const& v = d.version_;
    bool const deep = !v.has_one_leaf();
    for (auto const* w : {&v.front_, &v.back_}) {
      if (!w->held) {
        if (!w->empty()) return "a window without a leaf is empty";
        continue;
      }
      auto& l = w->in();
      if (l.height != 0) return "a leaf has the height 0";
      if (l.low.get() > w->begin || w->begin > w->end || w->end > l.high.get() ||
          l.high.get() > l.capacity)
        return "LEAF-1: a window lies within what is constructed";
      if (deep && l.capacity != cells::full)
        return "ENDS-1: leaves at both ends are of full capacity";
    }
    if (deep && v.front_.held && v.front_.end != cells::full)
      return "ENDS-1: the front window ends at its leaf's end";
    if (deep && v.back_.held && v.back_.begin != 0) return "ENDS-1: the back window begins at 0";
    return broken(v.spine_);
  }

 private:
  template <class T, class P>
  static char const* broken(spine<T, P> const& s) {
    if (s.empty()) return nullptr;
    using nodes = node<T, P>;
    for (std::size_t i = 0; i != s.size(); ++i) {
      auto& l = leaf<T, P>::in(s[i]);
      if (l.height != 0 || l.capacity != leaf<T, P>::full || l.low.get() != 0 ||
          l.high.get() != l.capacity)
        return "SPINE-2: a leaf between the ends is full";
    }
    return leaves_below<T, P>(s.root_) == s.size() && s.end_ <= std::size_t{1}
                                                                    << nodes::bits * s.root_->height
               ? nullptr
               : "SPINE-2: a place outside has no leaf";
  }
  template <class T, class P>
  static std::size_t leaves_below(owner<T, P> const& o) {
    if (!o) return 0;
    if (o->height == 0) return 1;
    std::size_t n = 0;
    for (auto const& below : node<T, P>::in(o).below) {
      if (below && below->height + 1U != o->height) return std::size_t(-1);  // no number of leaves
      n += leaves_below<T, P>(below);
    }
    return n;
  }
};

}  // namespace weft::detail
