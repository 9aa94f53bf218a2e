// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "deque/detail/tier.hpp"

/// Pushing and popping at the ends of a tier.  The common case is a handful of instructions;
/// the others are out of line.  Each builds what is new aside and then puts it in place by
/// steps that cannot throw.
namespace weft::detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_empty(char const* operation) {
  throw std::out_of_range(std::string("weft::persistent_deque::") + operation +
                          ": the deque is empty");
}

// ---- push

/// Builds an element beyond the edge S if there is a slot and this version may have it.
template <class E, class T, class P>
template <side S, class Make>
bool tier<E, T, P>::extend(window& w, Make& make) {
  if (!w.template has_room<S>()) return false;
  header& h = *w.chunk;
  auto& bound = h.template bound<S>();
  slot const from = w.template edge<S>();
  slot const to = S == side::front ? from - 1 : from + 1;
  E* const place = w.at(S == side::front ? to : from);

  if (!P::counts::between_threads || w.alone()) {
    if (bound.get() != from) return false;  // a version, alive or dead, has been there
    make(place);
    bound.set(to);
  } else {
    if constexpr (P::counts::between_threads) {
      if constexpr (!noexcept(make(place))) return false;  // a claimed slot must be filled (C1)
      if (!bound.claim(from, to)) return false;
      make(place);
    }
  }
  w.template edge<S>() = to;
  return true;
}

/// The same where it is known that there is a slot, in a trimmed chunk of our own.
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
    // First, while all is in place: `args` may refer to an element that is about to slide.
    E element(std::forward<Args>(args)...);
    auto move_in = [&](E* place) noexcept { std::construct_at(place, std::move(element)); };
    push_slowly<S>(move_in);
  } else {
    push_slowly<S>(make);
  }
}

template <class E, class T, class P>
template <side S, class Make>
[[gnu::noinline]] void tier<E, T, P>::push_slowly(Make& make) {
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

  if (w.template has_room<S>()) {  // but another version has, or had, the next slot
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

  if (!single) {  // T1: a full chunk
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

  if (w.size() > full / 2) {  // and full / 2 < size <= capacity, so the capacity is full
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

/// A window on a new chunk with the elements of `w`, its free slots at S.
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

// ---- pop

/// The window whose end S is the tier's.  It is not empty.
template <class E, class T, class P>
template <side S>
auto tier<E, T, P>::reach(char const* operation) -> window& {
  window& w = at_end<S>();
  if (!w.empty()) [[likely]]
    return w;
  window& other = at_end<opposite(S)>();
  if (!w.chunk && !below_ && !other.empty()) return other;
  return reach_slowly<S>(operation);
}

template <class E, class T, class P>
template <side S>
[[gnu::noinline]] auto tier<E, T, P>::reach_slowly(char const* operation) -> window& {
  window& w = at_end<S>();
  if (below_) {
    w = window(pop_below<S>(), 0, full);
    return w;
  }
  window& other = at_end<opposite(S)>();
  if (other.empty()) throw_empty(operation);
  w = window();  // the spare would break T1 once `other` is popped at this end
  return other;
}

/// Steps back over the element at S, which is destroyed already.
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
      return pop_slowly<S>(w);
    E taken(std::move(*last));
    std::destroy_at(last);
    retreat<S>(w);
    return taken;
  } else {
    // Nothing may throw once the element is gone, so it goes when the caller has its copy.
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
template <side S>
[[gnu::noinline]] E tier<E, T, P>::pop_slowly(window& w) {
  E* const last = w.template last<S>();
  if constexpr (std::is_copy_constructible_v<E>) {
    if (!w.alone()) {
      E taken(std::as_const(*last));
      narrow<S>(w);
      return taken;
    }
  }
  E taken(std::move(*last));
  drop<S>(w);
  return taken;
}

/// Lets go of the element at S in a shared chunk.
template <class E, class T, class P>
template <side S>
void tier<E, T, P>::narrow(window& w) noexcept {
  S == side::front ? ++w.begin : --w.end;
  if (w.empty()) w = window();  // T4
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

// ---- the tier below

template <class E, class T, class P>
void tier<E, T, P>::own_below() {
  if (!below_->owners.only_one())
    below_ = lower_tier<T, P>::make(below_->count, below_->chunks);
}

template <class E, class T, class P>
template <side S>
[[gnu::noinline]] void tier<E, T, P>::push_below(owner&& c) {
  if (!below_) {  // a tier below holds something from the first (T5)
    auto first = lower_tier<T, P>::make(1, typename lower_tier<T, P>::inner(height() + 1));
    first->chunks.template emplace<S>(std::move(c));
    below_ = std::move(first);
    return;
  }
  own_below();
  below_->chunks.template emplace<S>(std::move(c));
  ++below_->count;
}

template <class E, class T, class P>
template <side S>
auto tier<E, T, P>::pop_below() -> owner {
  own_below();
  owner c = below_->chunks.template pop<S>("pop");
  if (--below_->count == 0) below_ = {};
  return c;
}

}  // namespace weft::detail
