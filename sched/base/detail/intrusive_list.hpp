// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

namespace weft::detail {

template <class T>
class intrusive_list;

/// Base of an object that may be on an intrusive_list.
template <class T>
class list_entry {
 private:
  friend class intrusive_list<T>;
  T* next_in_list_;
  T* previous_in_list_;
};

/// A list that its objects carry.  Each operation is O(1) and allocates nothing.  An object is on one
/// list at most, and its owner knows whether it is.
template <class T>
class intrusive_list {
 public:
  /// Null if the list is empty.
  [[nodiscard]] T* first() const noexcept { return first_; }
  /// Null if `t` is the last.
  [[nodiscard]] static T* next(T const& t) noexcept { return entry(t).next_in_list_; }

  void push_back(T& t) noexcept {
    entry(t).next_in_list_ = nullptr;
    entry(t).previous_in_list_ = std::exchange(last_, &t);
    (entry(t).previous_in_list_ ? entry(*entry(t).previous_in_list_).next_in_list_ : first_) = &t;
  }
  void remove(T& t) noexcept {
    T* const next = entry(t).next_in_list_;
    T* const previous = entry(t).previous_in_list_;
    (previous ? entry(*previous).next_in_list_ : first_) = next;
    (next ? entry(*next).previous_in_list_ : last_) = previous;
  }

 private:
  static list_entry<T>& entry(T& t) noexcept { return t; }
  static list_entry<T> const& entry(T const& t) noexcept { return t; }

  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace weft::detail
