// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

namespace weft::detail {

template <class T, class Tag = void>
class intrusive_list;

/// The base of an object that may be on an intrusive_list.  An object that may be on several lists
/// has one such base for each tag.
template <class T, class Tag = void>
class list_entry {
 private:
  friend T;
  friend class intrusive_list<T, Tag>;

  constexpr list_entry() noexcept = default;
  list_entry(list_entry const&) = delete;
  list_entry& operator=(list_entry const&) = delete;
  ~list_entry() = default;

  list_entry* next_;
  list_entry* previous_;
};

/// A doubly linked list, whose links lie in the objects on it.  Each operation is O(1) and
/// allocates nothing.  An object is on at most one list for each tag; its owner knows whether it is
/// on one.
template <class T, class Tag>
class intrusive_list : list_entry<T, Tag> {
  using entry = list_entry<T, Tag>;

 public:
  constexpr intrusive_list() noexcept { this->next_ = this->previous_ = this; }

  [[nodiscard]] bool empty() const noexcept { return this->next_ == this; }
  /// The first object; null if the list is empty.
  [[nodiscard]] T* first() const noexcept { return object(this->next_); }
  /// The object behind `t`; null if `t` is the last one.
  [[nodiscard]] T* next(T const& t) const noexcept { return object(of(t).next_); }

  void push_back(T& t) noexcept {
    entry& added = t;
    added.next_ = this;
    added.previous_ = std::exchange(this->previous_, &added);
    added.previous_->next_ = &added;
  }
  static void remove(T& t) noexcept {
    entry& removed = t;
    removed.next_->previous_ = removed.previous_;
    removed.previous_->next_ = removed.next_;
  }

  void move_to_back(T& t) noexcept {
    remove(t);
    push_back(t);
  }

 private:
  static entry const& of(T const& t) noexcept { return t; }
  [[nodiscard]] T* object(entry* e) const noexcept {
    return e == this ? nullptr : static_cast<T*>(e);
  }
};

}  // namespace weft::detail
