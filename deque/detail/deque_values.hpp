// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "deque/persistent_deque.hpp"

/// The definitions of persistent_deque's longer members, in the order of its declaration.
namespace weft {

template <class T, class P>
template <detail::side S>
std::optional<T> persistent_deque<T, P>::try_pop() {
  if (empty()) return std::nullopt;
  if constexpr (cells::moves_safely)
    return top_.template pop<S>("try_pop");
  else
    return top_.template pop<S, std::optional<T>>("try_pop");
}

template <class T, class P>
template <detail::side S>
auto persistent_deque<T, P>::popped_copy() const -> popped {
  if (empty()) return std::nullopt;
  popped both(std::in_place, top_.template peek<S>("popped"), *this);
  both->second.top_.template discard<S>("popped");
  return both;
}

template <class T, class P>
template <detail::side S>
auto persistent_deque<T, P>::popped_move() -> popped {
  if constexpr (!cells::moves_safely) return popped_copy<S>();
  if (empty()) return std::nullopt;
  T element = top_.template pop<S>("popped");
  return popped(std::in_place, std::move(element), std::move(*this));
}

template <class T, class P>
auto persistent_deque<T, P>::split_at(size_type n) const
    -> std::pair<persistent_deque, persistent_deque>
  requires copyable
{
  std::pair<persistent_deque, persistent_deque> parts(*this, {});
  parts.second.top_ = parts.first.top_.split_off(std::min(n, size()));
  return parts;
}

template <class T, class P>
auto persistent_deque<T, P>::concat(persistent_deque const& other) const -> persistent_deque
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

template <class T, class P>
T const& persistent_deque<T, P>::operator[](size_type i) const {
  auto const run = top_.run_of(i);
  if (run.size == 0) detail::throw_no_element("operator[] or at", i);
  return run.first[i - run.index];
}

}  // namespace weft
