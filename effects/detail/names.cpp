// SPDX-License-Identifier: MIT
#include "weft/effects/detail/names.hpp"

#include <cctype>
#include <cstddef>
#include <source_location>
#include <string>
#include <string_view>

namespace weft::detail {

namespace {
/// The index of the first parenthesis outside of template arguments, where the parameters begin;
/// that of `(anonymous namespace)` does not count.
std::size_t begin_of_parameters(std::string_view s) {
  int depth = 0;
  for (std::size_t i = 0; i != s.size(); ++i) {
    if (s[i] == '<') ++depth;
    if (s[i] == '>') --depth;
    if (s[i] == '(' && depth == 0 && !s.substr(i).starts_with("(anonymous")) return i;
  }
  return s.size();
}
/// The index behind the parenthesis that closes the one at `begin`.
std::size_t end_of_parameters(std::string_view s, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < s.size(); ++i) {
    depth += s[i] == '(';
    depth -= s[i] == ')';
    if (depth == 0) return i + 1;
  }
  return s.size();
}
bool is_in_a_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
/// Removes the identifier at the end of `s`, and its template arguments; returns the identifier.
std::string_view take_last_name(std::string_view& s) {
  if (s.ends_with('>')) {
    int depth = 0;
    do {
      depth += s.back() == '>';
      depth -= s.back() == '<';
      s.remove_suffix(1);
    } while (depth != 0 && !s.empty());
  }
  std::size_t begin = s.size();
  while (begin != 0 && is_in_a_name(s[begin - 1])) --begin;
  auto const name = s.substr(begin);
  s.remove_suffix(name.size());
  return name;
}
}  // namespace

std::string text(std::source_location where) {
  if (where.line() == 0) return "ordinary code";
  return std::string(where.file_name()) + ":" + std::to_string(where.line());
}

std::string short_name_of_function(std::string_view spelled) {
  if (spelled.find('(') == spelled.npos) return std::string(spelled);  // the program gave this name
  // The name of a class that is local to a function stands behind the function's parameters:
  // main()::(anonymous class)::operator()(int) const.
  for (;;) {
    std::size_t const parameters = begin_of_parameters(spelled);
    std::string_view behind = spelled.substr(end_of_parameters(spelled, parameters));
    if (behind.starts_with(" const::")) behind.remove_prefix(6);
    static constexpr std::string_view lambdas[] = {"(anonymous class)", "(lambda", "<lambda"};
    if (!behind.starts_with("::")) {
      std::string_view rest = spelled.substr(0, parameters);
      std::string_view name = take_last_name(rest);
      if (name == "operator" && rest.ends_with("::")) {
        rest.remove_suffix(2);
        name = take_last_name(rest);
      }
      return std::string(name);
    }
    spelled = behind.substr(2);
    for (auto const lambda : lambdas)
      if (spelled.starts_with(lambda)) return "lambda";
  }
}

}  // namespace weft::detail
