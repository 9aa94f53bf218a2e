// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <utility>

#include "weft/deque/detail/ends.hpp"

namespace weft::detail {

// Part of what <ranges> declares: that header is slow to compile.
template <class R>
using iterator_over = decltype(std::ranges::begin(std::declval<R&>()));
template <class R>
concept input_range =
    std::input_iterator<iterator_over<R>> && requires(R& r) { std::ranges::end(r); };

/// A position in a deque: its index, and the run of elements that contains it.  A step within the
/// run moves a pointer; a step to another run is a search, O(log n).  Valid until the deque object
/// is changed or destroyed; other versions may change.
template <class T, class P>
class deque_iterator {
  using version = ends<T, P>;

 public:
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = T const*;
  using reference = T const&;

  deque_iterator() = default;
  deque_iterator(version const& deque, std::size_t index) noexcept
      : deque_(&deque), index_(static_cast<difference_type>(index)) {
    find_run();
  }

  reference operator*() const noexcept { return *here_; }
  pointer operator->() const noexcept { return here_; }
  reference operator[](difference_type n) const noexcept { return *(*this + n); }

  deque_iterator& operator++() noexcept {
    ++index_;
    if (++here_ == last_) find_run();
    return *this;
  }
  deque_iterator operator++(int) noexcept {
    auto const before = *this;
    ++*this;
    return before;
  }
  deque_iterator& operator--() noexcept { return *this -= 1; }
  deque_iterator operator--(int) noexcept {
    auto const before = *this;
    --*this;
    return before;
  }
  deque_iterator& operator+=(difference_type n) noexcept {
    index_ += n;
    if (first_ - here_ <= n && n < last_ - here_)
      here_ += n;
    else
      find_run();
    return *this;
  }
  deque_iterator& operator-=(difference_type n) noexcept { return *this += -n; }

  friend deque_iterator operator+(deque_iterator i, difference_type n) noexcept { return i += n; }
  friend deque_iterator operator+(difference_type n, deque_iterator i) noexcept { return i += n; }
  friend deque_iterator operator-(deque_iterator i, difference_type n) noexcept { return i -= n; }
  friend difference_type operator-(deque_iterator const& a, deque_iterator const& b) noexcept {
    return a.index_ - b.index_;
  }
  friend bool operator==(deque_iterator const& a, deque_iterator const& b) noexcept {
    return a.index_ == b.index_;
  }
  friend std::strong_ordering operator<=>(deque_iterator const& a,
                                          deque_iterator const& b) noexcept {
    return a.index_ <=> b.index_;
  }

 private:
  void find_run() noexcept {
    if (!deque_) return;
    auto const index = static_cast<std::size_t>(index_);
    auto const run = deque_->run_of(index);
    first_ = run.first;
    last_ = run.first + run.size;
    here_ = run.first + (run.size == 0 ? 0 : index - run.index);
  }

  version const* deque_ = nullptr;
  difference_type index_ = 0;
  pointer first_ = nullptr, here_ = nullptr, last_ = nullptr;  // the run, and the position in it
};

}  // namespace weft::detail
