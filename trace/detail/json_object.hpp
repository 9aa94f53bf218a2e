// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace weft::detail {

/// Appends the text as a JSON string.  `<` is escaped, so the string may stand in an HTML page.
inline void add_json_string(std::string& to, std::string_view text) {
  to += '"';
  for (char const c : text) {
    if (c == '"' || c == '\\') {
      (to += '\\') += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '<') {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      to += escaped;
    } else {
      to += c;
    }
  }
  to += '"';
}

/// Appends a JSON object to a string, member by member: {"name": value, ...}.
class json_object {
 public:
  explicit json_object(std::string& to) : to_(to) { to_ += '{'; }
  json_object(json_object const&) = delete;
  json_object& operator=(json_object const&) = delete;
  ~json_object() { to_ += '}'; }

  json_object& add(std::string_view name, std::string_view text) {
    begin(name);
    add_quoted(text);
    return *this;
  }
  json_object& add(std::string_view name, std::uint64_t n) {
    begin(name);
    to_ += std::to_string(n);
    return *this;
  }
  /// Adds a time in nanoseconds as a number of microseconds.
  json_object& add_time(std::string_view name, std::int64_t ns) {
    begin(name);
    char text[32];
    std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(ns / 1000),
                  static_cast<int>(ns % 1000));
    to_ += text;
    return *this;
  }
  /// Begins a member whose value is an object.
  [[nodiscard]] json_object object(std::string_view name) {
    begin(name);
    return json_object(to_);
  }

 private:
  void begin(std::string_view name) {
    if (!is_first_) to_ += ", ";
    is_first_ = false;
    add_quoted(name);
    to_ += ": ";
  }
  void add_quoted(std::string_view text) { add_json_string(to_, text); }

  std::string& to_;
  bool is_first_ = true;
};

}  // namespace weft::detail
