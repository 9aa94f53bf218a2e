// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/effects/operation.hpp"

namespace weft {

/// Printing.  A program that prints through this effect can be tested without a terminal.
struct console {
  /// Prints the text as given.
  struct [[nodiscard("weft: co_await it")]] print : op<void> {
    [[nodiscard("weft: co_await it")]] explicit print(std::string t) : text(std::move(t)) {}
    std::string text;
    friend std::size_t hash_value(print const& p) { return std::hash<std::string>()(p.text); }
    friend std::string_view trace_text(print const& p) noexcept { return p.text; }
  };
  /// Prints the text and a newline.
  struct [[nodiscard("weft: co_await it")]] print_line : op<void> {
    [[nodiscard("weft: co_await it")]] explicit print_line(std::string t) : text(std::move(t)) {}
    std::string text;
    friend std::size_t hash_value(print_line const& p) { return std::hash<std::string>()(p.text); }
    friend std::string_view trace_text(print_line const& p) noexcept { return p.text; }
  };

  using operations = op_list<print, print_line>;
};

/// Handles console by writing to a borrowed stream.  Each operation throws std::runtime_error if
/// the stream fails.  O(n) in the text; allocates a copy of each line, to add the newline.  Used by
/// one thread; several threads need synchronized(handler).
class console_to_stream : public handler<console> {
 public:
  explicit console_to_stream(std::ostream& out) noexcept : out_(out) {}

  void on(console::print const& p) const { put(p.text); }
  void on(console::print_line const& p) const;

 private:
  void put(std::string const& text) const;
  std::ostream& out_;
};

/// Handles console by appending to a borrowed string.  O(n) in the text, amortised; allocates as
/// the string grows.  Used by one thread; several threads need synchronized(handler).
class console_to_string : public handler<console> {
 public:
  explicit console_to_string(std::string& text) noexcept : text_(text) {}

  void on(console::print const& p) const { text_ += p.text; }
  void on(console::print_line const& p) const { text_.append(p.text).push_back('\n'); }

 private:
  std::string& text_;
};

}  // namespace weft
