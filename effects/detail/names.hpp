// SPDX-License-Identifier: MIT
#pragma once

#include <source_location>
#include <string>
#include <string_view>

/// Names of types and source locations in messages.
namespace weft::detail {

template <class T>
constexpr std::string_view spelled_by_the_compiler() {
  std::string_view const all = __PRETTY_FUNCTION__;
  auto const from = all.find("T = ") + 4;        // clang: ... [T = weft::proc::yield]
  auto const more = all.find("; std::string_");  // g++: ... [with T = weft::proc::yield; std::...
  return all.substr(from, (more == all.npos ? all.size() - 1 : more) - from);
}

/// The name of a type.
template <class T>
inline constexpr std::string_view name_of = spelled_by_the_compiler<T>();

/// The location as `file:line`, or "ordinary code" if the line is 0.  Without the column and the
/// function, because compilers differ in these.
[[nodiscard]] std::string text(std::source_location where);

/// Takes a text of std::source_location::function_name(), and returns the name of the function
/// without result, scopes, parameters and template arguments: "worker" of "weft::eff<void>
/// app::worker(int)".  "lambda" for a lambda; the name of its class for a call operator.  Empty if
/// there is none.  A text without parameters is a name from the program, and stays as it is.
[[nodiscard]] std::string short_name_of_function(std::string_view spelled);

}  // namespace weft::detail
