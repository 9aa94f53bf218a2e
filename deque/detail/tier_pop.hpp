// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "weft/deque/detail/deque_errors.hpp"
#include "weft/deque/detail/tier.hpp"

/// Pop at an end of a tier.  The search for the element may rearrange the tier but keeps its
/// elements; the removal is the last step.
namespace weft::detail {

/// Returns the window that holds the outermost element at S, which is not empty.  If the window at
/// S is empty, the result is a window on a chunk from the tier below, or else the window at the
/// other end.  Throws std::out_of_range if the tier is empty.
template <class E, class T, class P>
template <side S>
auto tier<E, T, P>::reach(char const* operation) -> window& {
  window& w = at_end<S>();
  if (!w.empty()) [[likely]]
    return w;
  window& other = at_end<opposite(S)>();
  if (!w.chunk && !below_ && !other.empty()) return other;
  return reach_slow<S>(operation);
}

template <class E, class T, class P>
template <side S>
[[gnu::noinline]] auto tier<E, T, P>::reach_slow(char const* operation) -> window& {
  window& w = at_end<S>();
  if (below_) {
    w = window(pop_below<S>(), 0, full);
    return w;
  }
  window& other = at_end<opposite(S)>();
  if (other.empty()) throw_empty(operation);
  // If the spare stayed, both windows would have a chunk, and a pop of `other` at S would break
  // TIER-1.
  w = window();
  return other;
}

/// Moves the edge S back over an element that is already destroyed.
template <class E, class T, class P>
template <side S>
void tier<E, T, P>::retreat(window& w) noexcept {
  slot& edge = w.template edge<S>();
  S == side::front ? ++edge : --edge;
  w.chunk->template bound<S>().set(edge);
}

template <class E, class T, class P>
template <side S, class R>
R tier<E, T, P>::pop(char const* operation) {
  window& w = reach<S>(operation);
  E* const last = w.template last<S>();
  if constexpr (cells::moves_safely) {
    if (!w.alone() || w.chunk->template bound<S>().get() != w.template edge<S>()) [[unlikely]]
      return pop_slow<S>(w);
    E taken(std::move(*last));
    std::destroy_at(last);
    retreat<S>(w);
    return taken;
  } else {
    // Nothing may throw after the removal, so the element is removed only when the caller has its
    // copy.
    struct on_return {
      window& w;
      int const exceptions = std::uncaught_exceptions();
      ~on_return() {
        if (std::uncaught_exceptions() == exceptions) drop<S>(w);
      }
    } const after{w};
    return R(std::as_const(*last));
  }
}

template <class E, class T, class P>
template <side S, class Take>
[[gnu::always_inline]] inline bool tier<E, T, P>::take_in_place(Take& take) noexcept {
  window* w = &at_end<S>();
  if (w->empty()) {
    if (w->chunk || below_) return false;
    w = &at_end<opposite(S)>();
    if (w->empty()) return false;
  }
  if (!w->alone() || w->chunk->template bound<S>().get() != w->template edge<S>()) [[unlikely]]
    return false;
  take(*w->template last<S>());
  retreat<S>(*w);
  return true;
}

template <class E, class T, class P>
template <side S>
[[gnu::noinline]] E tier<E, T, P>::pop_slow(window& w) {
  if constexpr (!cells::is_leaf) {
    cells::own(w.chunk, w.begin, w.end);  // else a shared chunk would keep the popped one alive
  } else if constexpr (std::is_copy_constructible_v<E>) {
    if (!w.alone()) {
      E taken(std::as_const(*w.template last<S>()));
      narrow<S>(w);
      return taken;
    }
  }
  E taken(std::move(*w.template last<S>()));
  drop<S>(w);
  return taken;
}

/// Removes the element at S from the window of a shared chunk.
template <class E, class T, class P>
template <side S>
void tier<E, T, P>::narrow(window& w) noexcept {
  S == side::front ? ++w.begin : --w.end;
  if (w.empty()) w = window();  // releases the shared chunk (TIER-4)
}

template <class E, class T, class P>
template <side S>
void tier<E, T, P>::drop(window& w) noexcept {
  if (!w.alone()) return narrow<S>(w);
  w.trim();
  std::destroy_at(w.template last<S>());
  retreat<S>(w);
}

template <class E, class T, class P>
template <side S>
void tier<E, T, P>::discard(char const* operation) {
  drop<S>(reach<S>(operation));
}

template <class E, class T, class P>
template <side S>
E const& tier<E, T, P>::peek(char const* operation) const {
  window const& w = S == side::front ? front_ : back_;
  if (!w.empty()) return *w.template last<S>();
  if (below_) {
    header& h = *below_->chunks.template peek<S>(operation);
    return *cells::at(h, S == side::front ? 0 : full - 1);
  }
  window const& other = S == side::front ? back_ : front_;
  if (other.empty()) throw_empty(operation);
  return *other.template last<S>();
}

template <class E, class T, class P>
template <side S>
auto tier<E, T, P>::pop_below() -> owner {
  own_below();
  owner c = below_->chunks.template pop<S>("pop");
  if (--below_->count == 0) below_ = {};
  return c;
}

template <class E, class T, class P>
slot tier<E, T, P>::rotations() const noexcept {
  window const& f = front_;
  window const& b = back_;
  if (!f.template has_room<side::front>() || !f.alone() ||
      f.chunk->template bound<side::front>().get() != f.begin)
    return 0;
  if (!b.empty()) [[likely]] {
    if (!b.alone() || b.chunk->template bound<side::back>().get() != b.end) return 0;
    return f.begin < b.size() ? f.begin : b.size();
  }
  // Or the tier has only the chunk of f.  If it has only that of b, the caller uses push and pop.
  bool const is_only =
      !b.chunk && !below_ && !f.empty() && f.chunk->template bound<side::back>().get() == f.end;
  return is_only ? f.begin : 0;
}

template <class E, class T, class P>
template <class... Args>
[[gnu::always_inline]] inline E tier<E, T, P>::rotate(Args&&... args) noexcept {
  static_assert(cells::moves_safely && std::is_nothrow_constructible_v<E, Args...>);
  window& f = front_;
  f.chunk->template bound<side::front>().set(--f.begin);
  std::construct_at(f.at(f.begin), std::forward<Args>(args)...);
  auto const take = [](window& b) -> E {
    b.chunk->template bound<side::back>().set(--b.end);
    E* const last = b.at(b.end);
    E taken(std::move(*last));
    std::destroy_at(last);
    return taken;
  };
  if (!back_.empty()) [[likely]]
    return take(back_);
  return take(f);
}

}  // namespace weft::detail
