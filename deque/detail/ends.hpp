// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "weft/deque/detail/spine.hpp"
#include "weft/deque/detail/window.hpp"
#include "weft/effects/detail/compiler.hpp"

namespace weft::detail {

struct invariants;

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_no_element(char const* operation,
                                                                    std::string const& why) {
  throw std::out_of_range(std::string("weft::persistent_deque::") + operation + ": " + why);
}

/// A version of a deque: at each end a window, which is a part of a leaf (window.hpp), and the full
/// leaves between them.
///
///   ENDS-1  If both windows have a leaf, or there are leaves between: the leaves of the windows
///       have full capacity, the front window ends at its leaf's end, and the back one begins at 0.
///   ENDS-2  Else at most one window has a leaf, of any capacity, and lies anywhere in it.
///   ENDS-3  A window without elements may keep a leaf as a spare.
///
/// So an index is found by division, and at most two leaves of elements can outlive the versions
/// whose windows cover them.  A push or pop may first rearrange the version; if that throws, the
/// elements are the same.  The last step of a push or pop does not throw.
///
/// Source: R. Hinze and R. Paterson, "Finger trees: a simple general-purpose data structure",
/// doi:10.1017/S0956796805005769, for the ends; P. Bagwell, "Fast Functional Lists, Hash-Lists,
/// Deques and Variable Length Arrays" (2002), for the claims of slots.
template <class T, class P>
class ends {
  using cells = leaf<T, P>;
  static constexpr slot full = cells::full;

 public:
  ends() = default;
  ends(ends const&) = default;
  ends(ends&& other) noexcept { swap(other); }  // leaves `other` empty
  ends& operator=(ends other) noexcept {
    swap(other);
    return *this;
  }
  ~ends() = default;
  void swap(ends& other) noexcept {
    std::swap(front_, other.front_);
    std::swap(back_, other.back_);
    std::swap(spine_, other.spine_);
  }

  [[nodiscard]] bool empty() const noexcept {
    return front_.empty() && back_.empty() && spine_.empty();
  }
  [[nodiscard]] std::size_t size() const noexcept {
    return front_.size() + back_.size() + spine_.size() * full;
  }

  /// Adds T(args...) at the end S.  If it throws, the elements are the same.  If the only argument
  /// is an rvalue `T`, and `T` moves without throwing, the argument is moved from only after the
  /// last step that can throw.
  template <side S, class... Args>
  void emplace(Args&&... args) {
    auto make = [&](T* at) noexcept(std::is_nothrow_constructible_v<T, Args...>) {
      std::construct_at(at, std::forward<Args>(args)...);
    };
    if (window_at<S>().held) [[likely]]
      if (window_at<S>().template extend<S>(make)) [[likely]]
        return;
    constexpr bool is_move = sizeof...(Args) == 1 && (std::is_same_v<Args, T> && ...);
    if constexpr (cells::moves_safely && !is_move) {
      // The element is constructed first: `args` may refer to an element that push_slow() moves.
      T element(std::forward<Args>(args)...);
      auto move_in = [&](T* at) noexcept { std::construct_at(at, std::move(element)); };
      push_slow<S>(move_in);
    } else {
      push_slow<S>(make);
    }
  }
  /// Adds T(args...) at the end S, if only the edge of a window has to be moved for that; else
  /// returns false, and does nothing.
  template <side S, class... Args>
  [[gnu::always_inline]] bool emplace_in_place(Args&&... args) noexcept {
    static_assert(std::is_nothrow_constructible_v<T, Args...>);
    auto make = [&](T* at) noexcept { std::construct_at(at, std::forward<Args>(args)...); };
    return window_at<S>().held && window_at<S>().template extend<S>(make);
  }

  /// Removes and returns the element at the end S.  If it throws, the elements are the same.  `R`
  /// is T or std::optional<T>.
  template <side S, class R = T>
  R pop(char const* operation) {
    window<T, P>* const w = in_place<S>();
    if (!w) [[unlikely]]
      return pop_slow<S, R>(operation);
    return take_alone<S, R>(*w);
  }
  /// Calls take(element) for the element at the end S, and removes it without destroying it, if
  /// only the edge of a window has to be moved for that; else returns false, and does nothing.
  template <side S, class Take>
  [[gnu::always_inline]] bool take_in_place(Take& take) noexcept {
    window<T, P>* const w = in_place<S>();
    if (!w) [[unlikely]]
      return false;
    take(*w->template last<S>());
    w->template retreat<S>();
    return true;
  }
  /// How many calls of rotate() may follow.  rotate() pushes at the front and pops at the back, and
  /// requires that both only move the edge of a window.
  [[nodiscard]] std::size_t rotations() const noexcept {
    if (!front_.held || !front_.template can_retreat<side::front>()) return 0;
    if (!back_.empty())
      return back_.template can_retreat<side::back>() ? std::min(front_.begin, back_.size()) : 0;
    bool const is_only = !back_.held && spine_.empty() && !front_.empty();
    return is_only && front_.template is_clean<side::back>() ? front_.begin : 0;
  }
  template <class... Args>
  [[gnu::always_inline]] T rotate(Args&&... args) noexcept {
    static_assert(cells::moves_safely && std::is_nothrow_constructible_v<T, Args...>);
    cells& first = front_.in();
    slot const at = front_.begin - 1;
    front_.begin = at;
    first.low.set(at);
    std::construct_at(first.at(at), std::forward<Args>(args)...);
    if (back_.empty()) [[unlikely]]
      return take_alone<side::back, T>(front_);
    return take_alone<side::back, T>(back_);
  }

  /// Contiguous elements, and the index of the first.
  struct run {
    T const* first;
    std::size_t size;
    std::size_t index;
  };
  /// The run that has element `i`; an empty run if there is no such element.
  [[nodiscard]] run run_of(std::size_t i) const noexcept {
    std::size_t before = 0;
    if (i < front_.size()) return {front_.template last<side::front>(), front_.size(), before};
    before += front_.size();
    if (std::size_t const k = (i - before) / full; k < spine_.size())
      return {cells::in(spine_[k]).at(0), full, before + k * full};
    before += spine_.size() * full;
    if (i - before < back_.size())
      return {back_.template last<side::front>(), back_.size(), before};
    return {nullptr, 0, i};
  }

  /// Removes `n` elements, at most size(), at the end S.  If it throws, this version may only be
  /// destroyed.
  template <side S>
  void remove(std::size_t n) {
    window<T, P>& w = window_at<S>();
    if (n < w.size()) return w.template leave<S>(n);
    n -= w.size();
    w = {};
    std::size_t const inside = spine_.size();
    if (n >= inside * full) {
      spine_ = {};
      return window_at<opposite(S)>().template leave<S>(n - inside * full);
    }
    std::size_t const k = n / full;
    slot const cut = n % full;
    w = {spine_[S == side::front ? k : inside - 1 - k], S == side::front ? cut : 0,
         S == side::front ? full : full - cut};
    spine_.template remove<S>(k + 1);
  }

  /// Replaces element `i`, which must exist, by f(element).  If it throws, no element has changed.
  template <class F>
  void replace(std::size_t i, F f) {
    run const old = run_of(i);
    T const& element = old.first[i - old.index];
    // f may copy the deque, and so share its leaves: the leaf to change is looked up after f.
    if constexpr (cells::moves_safely) {
      T fresh(f(element));
      auto const at = place_of(i);
      if (!(*at.held)->owners.only_one())
        *at.held = cells::make_from(cells::in(*at.held), at.begin, at.end,
                                    cells::in(*at.held).capacity, at.begin);
      T* const there = cells::in(*at.held).at(at.at);
      std::destroy_at(there);
      std::construct_at(there, std::move(fresh));
    } else {
      auto const from = place_of(i);
      owner<T, P> const whole = *from.held;
      owner<T, P> fresh = cells::make(cells::in(whole).capacity, from.begin);
      for (slot s = from.begin; s != from.end; ++s) {
        T* const copied = cells::in(whole).at(s);
        if (s != from.at) {
          cells::in(fresh).add(s, *copied, false);
        } else {
          T changed(f(*copied));
          cells::in(fresh).add(s, changed, false);
        }
      }
      *place_of(i).held = std::move(fresh);
    }
  }

 private:
  friend struct invariants;

  template <side S>
  [[nodiscard]] window<T, P>& window_at() noexcept {
    if constexpr (S == side::front)
      return front_;
    else
      return back_;
  }
  template <side S>
  [[nodiscard]] window<T, P> const& window_at() const noexcept {
    if constexpr (S == side::front)
      return front_;
    else
      return back_;
  }
  /// Whether ENDS-2 holds: at most one window has a leaf, and there are no leaves between.
  [[nodiscard]] bool has_one_leaf() const noexcept {
    return spine_.empty() && !(front_.held && back_.held);
  }

  template <side S, class Make>
  [[gnu::noinline]] void push_slow(Make& make) {
    window<T, P>& w = window_at<S>();
    window<T, P>& other = window_at<opposite(S)>();
    bool const has_one = has_one_leaf();
    if (has_one && !w.held) std::swap(w, other);
    bool const has_room = !w.held || w.template has_room<S>();
    if (w.held && has_room) {
      if (w.alone()) w.trim();
      if (w.template extend<S>(make)) return;
    }
    if (has_room || w.size() <= (has_one ? full / 2 : 0)) {
      if (w.held && w.template slide<S>()) {
        w.template extend<S>(make);
        return;
      }
      auto roomy = w.template with_room<S>(has_one ? cells::capacity_for(2 * w.size()) : full);
      roomy.template extend<S>(make);
      w = std::move(roomy);
      return;
    }
    auto fresh = window<T, P>().template with_room<S>(full);  // the old leaf is full at S
    if (has_one) {
      fresh.template extend<S>(make);
      other = std::move(w);
    } else {
      owner<T, P>& added = spine_.template room<S>();
      fresh.template extend<S>(make);
      added = std::move(w.held);
      spine_.template add<S>();
    }
    w = std::move(fresh);
  }

  /// The window that has the outermost element at S, if a pop only has to move its edge; else null.
  template <side S>
  [[gnu::always_inline]] window<T, P>* in_place() noexcept {
    window<T, P>* w = &window_at<S>();
    if (w->empty()) [[unlikely]] {
      w = &window_at<opposite(S)>();
      if (window_at<S>().held || !spine_.empty() || w->empty()) return nullptr;
    }
    if (!w->template can_retreat<S>()) [[unlikely]]
      return nullptr;
    return w;
  }
  template <side S, class R>
  [[gnu::noinline, gnu::cold]] R pop_slow(char const* operation) {
    window<T, P>* w = &window_at<S>();
    if (w->empty() && !spine_.empty()) {
      *w = {spine_.template take<S>(), 0, full};
    } else if (w->empty()) {
      // Drops a spare leaf: with two leaves, a pop at S from the other window would break ENDS-1.
      *w = {};
      w = &window_at<opposite(S)>();
      if (w->empty()) throw_no_element(operation, "the deque is empty");
    }
    if (!w->alone()) return take_shared<S, R>(*w);
    w->trim();
    return take_alone<S, R>(*w);
  }
  // The compilers construct `taken` as the result itself (NRVO), so after the removal there is no
  // move that could throw.
  template <side S, class R>
  [[gnu::always_inline]] static R take_alone(window<T, P>& w) {
    cells& in = w.in();  // read once: the stores below could alias `w`
    slot const edge = w.template edge<S>();
    slot const next = S == side::front ? edge + 1 : edge - 1;
    T* const last = in.at(S == side::front ? edge : next);
    R taken = cells::template taken<R>(*last, true);
    std::destroy_at(last);
    w.template edge<S>() = next;
    in.template bound<S>().set(next);
    return taken;
  }
  template <side S, class R>
  static R take_shared(window<T, P>& w) {
    R taken = cells::template taken<R>(*w.template last<S>(), false);
    w.template leave<S>(1);
    return taken;
  }

  /// The place of an element: slot `at` of a leaf, of which this version has [begin, end).
  struct place {
    owner<T, P>* held;
    slot begin, end, at;
  };
  /// The place of element `i`, which must exist, for a change: other versions may share the leaf,
  /// but not the nodes on the path to it.
  place place_of(std::size_t i) {
    auto const in = [](window<T, P>& w, std::size_t n) {
      return place{&w.held, w.begin, w.end, w.begin + slot(n)};
    };
    if (i < front_.size()) return in(front_, i);
    i -= front_.size();
    if (i / full < spine_.size()) return {&spine_.own(i / full), 0, full, slot(i % full)};
    return in(back_, i - spine_.size() * full);
  }

  window<T, P> front_;
  window<T, P> back_;
  spine<T, P> spine_;
};

}  // namespace weft::detail
