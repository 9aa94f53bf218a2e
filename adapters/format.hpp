// SPDX-License-Identifier: MIT
#pragma once

#include <version>

#include "weft/adapters/clock_time.hpp"  // IWYU pragma: export
#include "weft/adapters/detail/printed.hpp"

#if defined(__cpp_lib_format)
#include <format>
#include <string_view>

/// Formatters for std::format, for the types that adapters/fmt.hpp names.  Defined if the standard
/// library has std::format (C++20, in libstdc++ from version 13).
template <weft::detail::printable T>
struct std::formatter<T, char> : std::formatter<std::string_view, char> {
  template <class Context>
  auto format(T const& what, Context& to) const {
    return std::formatter<std::string_view, char>::format(weft::detail::printed(what), to);
  }
};
#endif
