// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "weft/effects/detail/compiler.hpp"

namespace weft {

namespace detail {

/// Makes the decisions that decide() returns, on one thread.
class decider {
 public:
  decider() = default;
  decider(decider const&) = delete;
  decider& operator=(decider const&) = delete;

  /// Returns a number below `n`; `n` is at least 1.  `names`: the names of the `n` ways, or null.
  virtual std::size_t decide(std::size_t n, std::string_view const* names) = 0;
  /// Called when a process reads or writes a value that processes share; `text(value)` is its text.
  virtual void note_value(std::string (*text)(void const*), void const* value) noexcept = 0;

  /// The decider of the calling thread; null unless schedules are explored on it.
  [[gnu::visibility("default")]] static inline constinit thread_local decider* of_thread = nullptr;

 protected:
  ~decider() = default;
};

inline std::size_t decide(std::size_t n, std::string_view const* names) {
  if (n == 0) throw std::invalid_argument("weft: decide chooses from at least one alternative");
  decider* const d = decider::of_thread;
  return d ? d->decide(n, names) : 0;
}

/// Whether a report can show the text of a `T`.  Pointers to characters are excluded: they may be
/// null.
template <class T>
concept has_text = std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                   (std::convertible_to<T const&, std::string_view> && !std::is_pointer_v<T>) ||
                   requires(T const& t) {
                     { to_string(t) } -> std::convertible_to<std::string>;
                   };
/// The text of a `T`, for a report.
template <has_text T>
std::string text_of_value(void const* value) {
  T const& v = *static_cast<T const*>(value);
  if constexpr (std::same_as<T, bool>)
    return v ? "true" : "false";
  else if constexpr (std::same_as<T, char>)
    return {'\'', v, '\''};
  else if constexpr (std::is_arithmetic_v<T>)
    return std::to_string(v);
  else if constexpr (std::is_enum_v<T>)
    return std::to_string(static_cast<std::underlying_type_t<T>>(v));
  else if constexpr (std::convertible_to<T const&, std::string_view>)
    return '"' + std::string(static_cast<std::string_view>(v)) + '"';
  else
    return to_string(v);
}
/// Tells a value to the decider of the thread, if the value has a text: if it is a number, an
/// enumerator or a string, or there is a function to_string(value).
template <class T>
void note_value(T const& value) noexcept {
  if constexpr (has_text<T>)
    if (decider* const d = decider::of_thread) [[unlikely]]
      d->note_value(text_of_value<T>, &value);
}

}  // namespace detail

/// Lets an explorer (explore, random_walk and the like) choose which of several ways a handler
/// goes.  explore tries each way in some schedule, as it lets each ready process run next in some
/// schedule.
///
///     struct coin {
///       bool on(flip) { return decide(2) == 1; }
///     };
///
/// Returns a number from 0 to `ways` - 1.  Where no explorer runs the calling code, and so always
/// under `schedule`, it returns 0.  So let 0 be the usual way: it is tried first, and shrinking
/// leaves as few other decisions as possible.
///
/// Do not use it in the program itself: after a fork one of the two processes is run from its
/// beginning, and would decide again.
///
/// O(1).  Throws std::invalid_argument if `ways` is 0.
[[nodiscard]] inline std::size_t decide(std::size_t ways) { return detail::decide(ways, nullptr); }
/// Returns decide(ways.size()); the names of the ways appear in reports.  Throws
/// std::invalid_argument if `ways` is empty.
[[nodiscard]] inline std::size_t decide(std::span<std::string_view const> ways) {
  return detail::decide(ways.size(), ways.data());
}

}  // namespace weft
