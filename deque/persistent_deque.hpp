// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "weft/deque/detail/deque_iterator.hpp"
#include "weft/deque/detail/ends.hpp"
#include "weft/deque/policy.hpp"

namespace weft {

/// A double-ended queue whose copies are snapshots.
///
///     persistent_deque<int> d{1, 2, 3};
///     auto const before = d;  // O(1), copies no element
///     d.push_back(4);         // in place if possible; `before` still holds 1, 2, 3
///
/// A value: each object is one version, versions share common parts, and an operation on one
/// version is never visible in another.  A version that shares nothing is changed in place, at one
/// and a half times the cost of a ring buffer.
///
/// When not to use it: if no version is ever kept.  Elements are read-only in place.
///
/// Cost, for n elements: the bounds are worst cases on any version, not amortised.  In log n, n is
/// the most elements that the version, or a version that it was made from, has had.  "Usually
/// O(1)": only a push or pop that fills or empties a leaf, a block of elements (32 of 16 bytes),
/// reaches the leaves between the two ends.  Destroying a version destroys the elements that no
/// other version shares: O(n), with O(log n) of stack.  If another version shares the leaf at one
/// of its ends with the destroyed one, elements of that leaf may live on until the other version
/// next changes at that end: at most two leaves for both ends together.
///
/// Elements: `T` is complete, does not throw when destroyed, and moves without throwing or is
/// copyable; a move-only T makes a move-only deque.  Constructors and the destructor of T must not
/// use the deque object that is being changed.  If a T can own a version of its own deque, use a
/// policy that says so (deque/policy.hpp).
///
/// Exceptions: the strong guarantee.  If an allocation, or a copy or move of an element throws, no
/// version has changed; a T&& argument of a push keeps its value, unless its own move throws.
///
/// Threads: while one thread changes an object, no other thread may use that object; concurrent
/// reads are safe.  Under plain_counts (the default) versions that share parts must stay on one
/// thread.  Under atomic_counts each version may be on any thread; elements are then copied and
/// read by several threads at once, and destroyed on any of them.
///
/// Iterators and references are valid until the next change of their deque object, even one that
/// throws.
///
/// Source: docs/decisions/001-persistent-deque.md; deque/detail/ends.hpp has the invariants.
template <class T, class Policy = deque_policy<>>
class persistent_deque {
  using side = detail::side;
  using version = detail::ends<T, Policy>;
  static constexpr bool copyable = std::is_copy_constructible_v<T>;

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T const&;
  using const_reference = T const&;
  using iterator = detail::deque_iterator<T, Policy>;  ///< Random access, read-only.
  using const_iterator = iterator;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = reverse_iterator;

  /// Makes an empty deque.  No allocation.
  persistent_deque() = default;

  /// Makes a snapshot.  O(1), no allocation, does not throw.  Requires a copyable `T`.
  persistent_deque(persistent_deque const&)
    requires copyable
  = default;
  persistent_deque& operator=(persistent_deque const&)
    requires copyable
  = default;
  /// Takes over the version of the source, which is left empty.  O(1), no allocation.
  persistent_deque(persistent_deque&&) = default;
  persistent_deque& operator=(persistent_deque&&) = default;

  /// This and the next two constructors make a deque of n elements.  O(n); they allocate each leaf.
  persistent_deque(std::initializer_list<T> elements)
    requires copyable
      : persistent_deque(elements.begin(), elements.end()) {}

  template <std::input_iterator I, std::sentinel_for<I> S>
  persistent_deque(I first, S last)
    requires std::constructible_from<T, std::iter_reference_t<I>>
  {
    for (; first != last; ++first) emplace_back(*first);
  }

  template <detail::input_range R>
    requires(!std::same_as<std::remove_cvref_t<R>, persistent_deque> &&
             std::constructible_from<T, std::iter_reference_t<detail::iterator_over<R>>>)
  explicit persistent_deque(R&& range) {
    for (auto&& element : range) emplace_back(std::forward<decltype(element)>(element));
  }

  // ---- changes in place

  /// Adds an element at an end.  Usually O(1), at worst O(log n).  Allocates a leaf if the leaf
  /// at that end is full, or if another version has used its next slot; a full leaf may need new
  /// nodes, too.
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

  /// emplace_front() and emplace_back() construct T(args...) in place at an end.  They cost, and
  /// allocate, what a push does.
  template <class... Args>
    requires std::constructible_from<T, Args...>
  void emplace_front(Args&&... args) {
    version_.template emplace<side::front>(std::forward<Args>(args)...);
  }
  template <class... Args>
    requires std::constructible_from<T, Args...>
  void emplace_back(Args&&... args) {
    version_.template emplace<side::back>(std::forward<Args>(args)...);
  }

  /// pop_front() and pop_back() remove and return the element at an end: they move it if no other
  /// version shares it, else copy it.  Usually O(1), at worst O(log n).  They allocate only if
  /// they take a leaf from between the ends, and another version shares the path to it.  They throw
  /// std::out_of_range if the deque is empty.
  T pop_front() { return version_.template pop<side::front>("pop_front"); }
  T pop_back() { return version_.template pop<side::back>("pop_back"); }
  /// try_pop_front() and try_pop_back() remove and return the element at an end, or return nullopt
  /// if the deque is empty.  They cost, and allocate, what a pop does.
  std::optional<T> try_pop_front() { return try_pop<side::front>(); }
  std::optional<T> try_pop_back() { return try_pop<side::back>(); }

  /// For a round-robin queue: rotate_in_place adds T(args...) at the front, and removes and returns
  /// the last element, in a few instructions and without allocation.  It requires
  /// can_rotate_in_place(), which is true only if both ends share nothing with another version.  If
  /// that is false, use a push and a pop.
  [[nodiscard]] bool can_rotate_in_place() const noexcept { return rotations() != 0; }
  /// How many calls of rotate_in_place() may follow, if this deque is not copied, and is changed in
  /// no other way, meanwhile.  O(1).
  [[nodiscard]] size_type rotations() const noexcept { return version_.rotations(); }
  template <class... Args>
  [[gnu::always_inline]] T rotate_in_place(Args&&... args) noexcept {
    return version_.rotate(std::forward<Args>(args)...);
  }

  /// Adds T(args...) at the front in a few instructions, and returns true, if the leaf at the front
  /// has room that this version may use.  Else returns false, and does nothing; then call
  /// emplace_front().  T(args...) must not throw.  O(1), no allocation.
  template <class... Args>
  [[nodiscard, gnu::always_inline]] bool emplace_front_in_place(Args&&... args) noexcept {
    return version_.template emplace_in_place<side::front>(std::forward<Args>(args)...);
  }

  /// Removes the last element in a few instructions, and returns true, if the element's leaf is at
  /// one of the ends, no other version shares the leaf, and no version that has gone has left
  /// elements behind the last one.  Else returns false, and does nothing; then call pop_back().
  /// The removal calls take(element), which must not throw, and which takes over the things that
  /// the element owns, since the element is not destroyed.  O(1), no allocation.
  template <std::invocable<T&> Take>
  [[nodiscard, gnu::always_inline]] bool take_back_in_place(Take take) noexcept {
    return version_.template take_in_place<side::back>(take);
  }

  void clear() noexcept { version_ = {}; }  ///< Drops this version.  O(n).
  /// Exchanges the two versions.  O(1), no allocation.
  void swap(persistent_deque& other) noexcept { version_.swap(other.version_); }
  friend void swap(persistent_deque& a, persistent_deque& b) noexcept { a.swap(b); }

  // ---- as values: functions that return a changed deque and leave this one unchanged; an rvalue
  // is reused.  Each costs and allocates as much as a snapshot and the operation in place.

  /// The deque with one more element at the front.  Allocates as a push after a snapshot.
  [[nodiscard]] persistent_deque pushed_front(T element) const&
    requires copyable
  {
    return persistent_deque(*this).pushed_front(std::move(element));
  }
  [[nodiscard]] persistent_deque pushed_front(T element) && {
    push_front(std::move(element));
    return std::move(*this);
  }
  /// The deque with one more element at the back.  Allocates as a push after a snapshot.
  [[nodiscard]] persistent_deque pushed_back(T element) const&
    requires copyable
  {
    return persistent_deque(*this).pushed_back(std::move(element));
  }
  [[nodiscard]] persistent_deque pushed_back(T element) && {
    push_back(std::move(element));
    return std::move(*this);
  }

  /// The result of popped_front() and popped_back(): the element at that end, and the deque without
  /// it; nullopt if the deque is empty.  These two allocate as a pop after a snapshot.
  using popped = std::optional<std::pair<T, persistent_deque>>;
  [[nodiscard]] popped popped_front() const&
    requires copyable
  {
    return persistent_deque(*this).template popped_at<side::front>();
  }
  [[nodiscard]] popped popped_front() && { return popped_at<side::front>(); }
  [[nodiscard]] popped popped_back() const&
    requires copyable
  {
    return persistent_deque(*this).template popped_at<side::back>();
  }
  [[nodiscard]] popped popped_back() && { return popped_at<side::back>(); }

  /// The deque with element `i` replaced by `element`, or by f(element i).  O(log n); allocates,
  /// and copies, at most one leaf, and one node of each height.  Throws std::out_of_range if there
  /// is no element `i`.
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
    if (i >= size()) throw_no_element("set or update", i);
    version_.replace(i, std::move(f));
    return std::move(*this);
  }

  /// take() gives the first `n` elements, drop() the others, and split_at() both; if size() < n,
  /// the first part has all elements.  O(log n); copies no element; allocates at most two nodes at
  /// each height.
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
    requires copyable
  {
    std::pair<persistent_deque, persistent_deque> parts(*this, *this);
    if (n > size()) n = size();
    parts.first.version_.template remove<side::back>(size() - n);
    parts.second.version_.template remove<side::front>(n);
    return parts;
  }

  /// This deque's elements, then those of `other`.  The shorter one is copied onto the longer one:
  /// O(min(n, m)), with an allocation for each leaf of the copy.
  [[nodiscard]] persistent_deque concat(persistent_deque const& other) const
    requires copyable
  {
    bool const onto_this = size() >= other.size();
    persistent_deque both(onto_this ? *this : other);
    if (onto_this)
      for (T const& element : other) both.push_back(element);
    else
      for (auto i = rbegin(); i != rend(); ++i) both.push_front(*i);
    return both;
  }

  // ---- read access: no allocation

  [[nodiscard]] bool empty() const noexcept { return version_.empty(); }     ///< O(1).
  [[nodiscard]] size_type size() const noexcept { return version_.size(); }  ///< O(1).

  /// front() and back(): the element at an end.  O(log n), usually O(1).  Throws std::out_of_range
  /// if the deque is empty.
  [[nodiscard]] T const& front() const {
    if (empty()) detail::throw_no_element("front", "the deque is empty");
    return (*this)[0];
  }
  [[nodiscard]] T const& back() const {
    if (empty()) detail::throw_no_element("back", "the deque is empty");
    return (*this)[size() - 1];
  }

  /// Element `i`; at(i) returns the same.  O(log n).  Throws std::out_of_range if there is no
  /// element `i`.
  [[nodiscard]] T const& operator[](size_type i) const {
    auto const run = version_.run_of(i);
    if (run.size == 0) throw_no_element("operator[] or at", i);
    return run.first[i - run.index];
  }
  [[nodiscard]] T const& at(size_type i) const { return (*this)[i]; }

  /// begin(), end(), cbegin(), cend(), rbegin() and rend() return what those of a std::deque do, in
  /// O(log n).  An increment of an iterator is O(1), but O(log n) once in each leaf.
  [[nodiscard]] iterator begin() const noexcept { return iterator(version_, 0); }
  [[nodiscard]] iterator end() const noexcept { return iterator(version_, size()); }
  [[nodiscard]] iterator cbegin() const noexcept { return begin(); }
  [[nodiscard]] iterator cend() const noexcept { return end(); }
  [[nodiscard]] reverse_iterator rbegin() const noexcept { return reverse_iterator(end()); }
  [[nodiscard]] reverse_iterator rend() const noexcept { return reverse_iterator(begin()); }

  /// Calls f(std::span<T const>) for each run of contiguous elements, in order.  O(n).
  template <std::invocable<std::span<T const>> F>
  void for_each_segment(F f) const {
    for (size_type i = 0; i != size();) {
      auto const run = version_.run_of(i);
      f(std::span<T const>(run.first, run.size));
      i = run.index + run.size;
    }
  }

  friend bool operator==(persistent_deque const& a, persistent_deque const& b)
    requires std::equality_comparable<T>
  {  // O(n)
    if (a.size() != b.size()) return false;
    for (auto i = a.begin(), j = b.begin(), end = a.end(); i != end; ++i, void(), ++j)
      if (!(*i == *j)) return false;
    return true;
  }
  friend auto operator<=>(persistent_deque const& a, persistent_deque const& b)
    requires std::three_way_comparable<T>
  {  // O(n)
    using order = std::compare_three_way_result_t<T>;
    auto const a_end = a.end();
    auto const b_end = b.end();
    for (auto i = a.begin(), j = b.begin(); i != a_end && j != b_end; ++i, void(), ++j)
      if (order const o = std::compare_three_way()(*i, *j); o != 0) return o;
    return order(a.size() <=> b.size());
  }

 private:
  friend struct detail::invariants;

  [[noreturn]] static void throw_no_element(char const* operation, size_type i) {
    detail::throw_no_element(operation, "there is no element " + std::to_string(i));
  }
  template <side S>
  std::optional<T> try_pop() {
    if (empty()) return std::nullopt;
    return version_.template pop<S, std::optional<T>>("try_pop");
  }
  template <side S>
  popped popped_at() {
    if (empty()) return std::nullopt;
    if constexpr (std::is_nothrow_move_constructible_v<T>) {
      T element = version_.template pop<S>("popped");
      return popped(std::in_place, std::move(element), std::move(*this));
    } else {  // a copy may throw, so this deque changes only afterwards
      persistent_deque rest(*this);
      T const element = rest.version_.template pop<S>("popped");
      return popped(std::in_place, element, std::move(rest));
    }
  }

  version version_;
};

template <std::input_iterator I, std::sentinel_for<I> S>
persistent_deque(I, S) -> persistent_deque<std::iter_value_t<I>>;
template <detail::input_range R>
persistent_deque(R&&) -> persistent_deque<std::iter_value_t<detail::iterator_over<R>>>;

}  // namespace weft
