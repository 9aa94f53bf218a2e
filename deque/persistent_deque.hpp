// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include "deque/detail/deque_errors.hpp"
#include "deque/detail/deque_iterator.hpp"
#include "deque/detail/tier_index.hpp"
#include "deque/detail/tier_pop.hpp"
#include "deque/detail/tier_push.hpp"
#include "deque/policy.hpp"

namespace weft {

/// A double-ended queue whose copies are snapshots.
///
///     persistent_deque<int> d{1, 2, 3};
///     auto const before = d;  // O(1): nothing is copied
///     d.push_back(4);         // in place where it can; `before` still holds 1, 2, 3
///
/// A value: each object is one version, versions share what they have in common, and no
/// operation on one is ever seen in another.  A version that shares nothing works in place, at
/// one and a half times the cost of a ring buffer.
///
/// When not to use it: if no version is ever kept.  Elements are read-only in place.
///
/// Cost, n elements: worst case on any version, nothing amortised.  "Usually O(1)": only a push
/// or pop that fills or empties a leaf (32 elements of 16 bytes) reaches the tier below.
/// Dropping a version destroys what no other shares, O(n), on a stack of O(log n).  Of what it
/// shared a leaf with, less than two leaves may live on until the sharer next works at that end.
///
/// Elements: `T` is complete, does not throw when destroyed, and moves without throwing or is
/// copyable; one that only moves makes a deque that only moves.  Its constructors and destructor
/// leave alone the deque object that is being changed.  One that can own a version of its own
/// deque needs a policy that says so (deque/policy.hpp).
///
/// Exceptions: strong, everywhere.  Whatever throws, an allocation or an element's copy or move,
/// no version has changed; a T&& given to push has kept its value.
///
/// Threads: one object is changed by one thread, while no other uses it; looking is free.  Under
/// plain_counts (the default) versions that share anything belong to one thread.  Under
/// atomic_counts each may be anyone's; elements are then copied and looked at by several threads
/// at once, and destroyed on any.
///
/// Iterators and references are valid until their deque object is next changed, or an attempt
/// at that throws.
///
/// Source: docs/decisions/001-persistent-deque.md; deque/detail/tier.hpp has the invariants.
template <class T, class Policy = deque_policy<>>
class persistent_deque {
  using side = detail::side;
  using top = detail::tier<T, T, Policy>;
  using cells = detail::chunk<T, T, Policy>;
  static constexpr bool copyable = std::is_copy_constructible_v<T>;

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T const&;
  using const_reference = T const&;
  using iterator = detail::deque_iterator<T, Policy>;
  using const_iterator = iterator;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = reverse_iterator;

  /// Empty.  No allocation.
  persistent_deque() = default;

  /// A snapshot.  O(1), no allocation, does not throw.  Only where `T` can be copied.
  persistent_deque(persistent_deque const&)
    requires copyable
  = default;
  persistent_deque& operator=(persistent_deque const&)
    requires copyable
  = default;
  /// O(1), no allocation; the source is left empty.
  persistent_deque(persistent_deque&&) = default;
  persistent_deque& operator=(persistent_deque&&) = default;

  /// O(n), with a chunk allocated for each leaf; so are the next two.
  persistent_deque(std::initializer_list<T> elements)
    requires copyable
      : persistent_deque(elements.begin(), elements.end()) {}

  template <std::input_iterator I, std::sentinel_for<I> S>
  persistent_deque(I first, S last)
    requires std::constructible_from<T, std::iter_reference_t<I>>
  {
    for (; first != last; ++first) emplace_back(*first);
  }

  template <std::ranges::input_range R>
    requires(!std::same_as<std::remove_cvref_t<R>, persistent_deque> &&
             std::constructible_from<T, std::ranges::range_reference_t<R>>)
  explicit persistent_deque(R&& range) {
    for (auto&& element : range) emplace_back(std::forward<decltype(element)>(element));
  }

  // ---- in place

  /// Adds an element at an end.  Usually O(1), at worst O(log n).  Allocates a chunk when the
  /// one at that end is used up, or holds in its next slot an element of another version.
  void push_front(T const& element)
    requires copyable
  {
    emplace_front(element);
  }
  void push_front(T&& element) { emplace_front(std::move(element)); }
  void push_back(T const& element)
    requires copyable
  {
    emplace_back(element);
  }
  void push_back(T&& element) { emplace_back(std::move(element)); }

  /// Adds T(args...) at an end, built in its place.  Costs as push.
  template <class... Args>
    requires std::constructible_from<T, Args...>
  void emplace_front(Args&&... args) {
    top_.template emplace<side::front>(std::forward<Args>(args)...);
  }
  template <class... Args>
    requires std::constructible_from<T, Args...>
  void emplace_back(Args&&... args) {
    top_.template emplace<side::back>(std::forward<Args>(args)...);
  }

  /// Removes and returns the element at an end: moves it out where no other version sees it,
  /// else copies it.  Usually O(1), at worst O(log n).  Allocates only to unshare a tier below.
  /// Throws std::out_of_range if the deque is empty.
  T pop_front() { return top_.template pop<side::front>("pop_front"); }
  T pop_back() { return top_.template pop<side::back>("pop_back"); }
  /// The same; nullopt if the deque is empty.
  std::optional<T> try_pop_front() { return try_pop<side::front>(); }
  std::optional<T> try_pop_back() { return try_pop<side::back>(); }

  /// A step of a queue that goes round, if that takes a few instructions and no allocation, since
  /// both ends have room and are no other version's: adds T(args...) in front, returns the last.
  [[nodiscard]] bool can_rotate_in_place() const noexcept { return top_.can_rotate(); }
  template <class... Args>
  [[gnu::always_inline]] T rotate_in_place(Args&&... args) noexcept {
    return top_.rotate(std::forward<Args>(args)...);
  }

  void clear() noexcept { top_ = top(); }                                 ///< Drops this version.
  void swap(persistent_deque& other) noexcept { top_.swap(other.top_); }  ///< O(1), no allocation.
  friend void swap(persistent_deque& a, persistent_deque& b) noexcept { a.swap(b); }

  // ---- as values: the deque with a change, leaving this one as it is (or, if this is an rvalue,
  // reusing it).  These cost a snapshot, and what the operation in place costs and allocates.

  [[nodiscard]] persistent_deque pushed_front(T element) const&
    requires copyable
  {
    return persistent_deque(*this).pushed_front(std::move(element));
  }
  [[nodiscard]] persistent_deque pushed_front(T element) && {
    push_front(std::move(element));
    return std::move(*this);
  }
  [[nodiscard]] persistent_deque pushed_back(T element) const&
    requires copyable
  {
    return persistent_deque(*this).pushed_back(std::move(element));
  }
  [[nodiscard]] persistent_deque pushed_back(T element) && {
    push_back(std::move(element));
    return std::move(*this);
  }

  /// The element at an end, and the deque without it; nullopt if the deque is empty.
  using popped = std::optional<std::pair<T, persistent_deque>>;
  [[nodiscard]] popped popped_front() const&
    requires copyable
  {
    return popped_copy<side::front>();
  }
  [[nodiscard]] popped popped_front() && { return popped_move<side::front>(); }
  [[nodiscard]] popped popped_back() const&
    requires copyable
  {
    return popped_copy<side::back>();
  }
  [[nodiscard]] popped popped_back() && { return popped_move<side::back>(); }

  /// The deque with element `i` replaced by `element`, or by f(element i).  O(log n); copies, and
  /// allocates, at most a chunk and a tier at each height.  Throws std::out_of_range if there is
  /// no element `i`.
  [[nodiscard]] persistent_deque set(size_type i, T element) const&
    requires copyable
  {
    return persistent_deque(*this).set(i, std::move(element));
  }
  [[nodiscard]] persistent_deque set(size_type i, T element) && {
    return std::move(*this).update(i, [&](T const&) -> T&& { return std::move(element); });
  }
  template <std::invocable<T const&> F>
    requires(copyable && std::constructible_from<T, std::invoke_result_t<F&, T const&>>)
  [[nodiscard]] persistent_deque update(size_type i, F f) const& {
    return persistent_deque(*this).update(i, std::move(f));
  }
  template <std::invocable<T const&> F>
    requires std::constructible_from<T, std::invoke_result_t<F&, T const&>>
  [[nodiscard]] persistent_deque update(size_type i, F f) && {
    if (i >= size()) detail::throw_no_element("set or update", i);
    top_.replace(i, std::move(f));
    return std::move(*this);
  }

  /// The first `n` elements, the others, or both; all and none if there are fewer.  O(log n);
  /// copies no element, allocates at most two tiers at each height.
  [[nodiscard]] persistent_deque take(size_type n) const
    requires copyable
  {
    return split_at(n).first;
  }
  [[nodiscard]] persistent_deque drop(size_type n) const
    requires copyable
  {
    return split_at(n).second;
  }
  [[nodiscard]] std::pair<persistent_deque, persistent_deque> split_at(size_type n) const
    requires copyable;

  /// This deque's elements, then `other`'s.  The shorter is copied onto the longer: O(min(n, m)),
  /// with a chunk allocated for each leaf of these.
  [[nodiscard]] persistent_deque concat(persistent_deque const& other) const
    requires copyable;

  // ---- looking: no allocation

  [[nodiscard]] bool empty() const noexcept { return top_.empty(); }     ///< O(1).
  [[nodiscard]] size_type size() const noexcept { return top_.size(); }  ///< O(1).

  /// O(log n), usually O(1).  Throws std::out_of_range if the deque is empty.
  [[nodiscard]] T const& front() const { return top_.template peek<side::front>("front"); }
  [[nodiscard]] T const& back() const { return top_.template peek<side::back>("back"); }

  /// O(log n).  Both throw std::out_of_range if there is no element `i`.
  [[nodiscard]] T const& operator[](size_type i) const;
  [[nodiscard]] T const& at(size_type i) const { return (*this)[i]; }

  /// O(log n).  A step is O(1), once in a chunk O(log n).
  [[nodiscard]] iterator begin() const noexcept { return iterator(top_, 0); }
  [[nodiscard]] iterator end() const noexcept { return iterator(top_, size()); }
  [[nodiscard]] iterator cbegin() const noexcept { return begin(); }
  [[nodiscard]] iterator cend() const noexcept { return end(); }
  [[nodiscard]] reverse_iterator rbegin() const noexcept { return reverse_iterator(end()); }
  [[nodiscard]] reverse_iterator rend() const noexcept { return reverse_iterator(begin()); }

  /// Calls f(std::span<T const>) for each run of elements that lie side by side, in order.
  template <std::invocable<std::span<T const>> F>
  void for_each_segment(F f) const {
    for (size_type i = 0; i != size();) {
      auto const run = top_.run_of(i);
      f(std::span<T const>(run.first, run.size));
      i = run.index + run.size;
    }
  }

  friend bool operator==(persistent_deque const& a, persistent_deque const& b)
    requires std::equality_comparable<T>
  {  // O(n)
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
  }
  friend auto operator<=>(persistent_deque const& a, persistent_deque const& b)
    requires std::three_way_comparable<T>
  {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  friend struct detail::invariants;
  // clang-format off
  template <side S> std::optional<T> try_pop();
  template <side S> popped popped_copy() const;
  template <side S> popped popped_move();
  // clang-format on

  top top_;
};

template <std::input_iterator I, std::sentinel_for<I> S>
persistent_deque(I, S) -> persistent_deque<std::iter_value_t<I>>;
template <std::ranges::input_range R>
persistent_deque(R&&) -> persistent_deque<std::ranges::range_value_t<R>>;

}  // namespace weft

#include "deque/detail/deque_values.hpp"  // IWYU pragma: export
