// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "weft/adapters/clock_time.hpp"  // IWYU pragma: export
#include "weft/adapters/detail/printed.hpp"

/// Formatters for {fmt}, as in `fmt::print("{} waits\n", id)`, for these types:
///
///   * process_id, as in reports: "1.2";
///   * from the library weft::testing: schedule_path, as follow() reads it; schedule_step;
///     exploration, as its report; and exploration::outcome;
///   * deadlock::waiter;
///   * clock_time{t}, for an instant: "1.25s".
///
/// A format has the options of a string: `{:>8}`.  Allocates the text.
template <weft::detail::printable T>
struct fmt::formatter<T, char> : fmt::formatter<std::string_view, char> {
  template <class Context>
  auto format(T const& what, Context& to) const {
    return fmt::formatter<std::string_view, char>::format(weft::detail::printed(what), to);
  }
};
