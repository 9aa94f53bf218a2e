// SPDX-License-Identifier: MIT
#pragma once

// The exercises of docs/03_printing_is_an_effect.md.  Complete each function; its test says what it
// must do.

#include <string>
#include <utility>

#include "weft/effects/effects.hpp"

namespace printing_is_an_effect {

using namespace weft;

/// Puts a number before each line.
class numbered : public handler<console> {
 public:
  void on(console::print const& p, outer<console> up) {
    begin(up);
    up(p);
  }
  void on(console::print_line const& p, outer<console> up) {
    begin(up);
    up(p);
    at_start_ = true;
  }

 private:
  void begin(outer<console> const& up) {
    if (std::exchange(at_start_, false)) up(console::print(std::to_string(++lines_) + " "));
  }
  int lines_ = 0;
  bool at_start_ = true;
};

/// Puts asterisks in place of a word.
class censored : public handler<console> {
 public:
  explicit censored(std::string word) : word_(std::move(word)) {}

  void on(console::print const& p, outer<console> up) const { up(console::print(cleaned(p.text))); }
  void on(console::print_line const& p, outer<console> up) const {
    up(console::print_line(cleaned(p.text)));
  }

 private:
  std::string cleaned(std::string text) const {
    for (auto at = text.find(word_); at != text.npos; at = text.find(word_, at))
      text.replace(at, word_.size(), word_.size(), '*');
    return text;
  }
  std::string word_;
};

// Exercise 1 (*): puts two spaces before each line, which may be printed in several pieces.
class indented : public handler<console> {
 public:
  void on(console::print const& p, outer<console> up) { up(p); }
  void on(console::print_line const& p, outer<console> up) { up(p); }
};

// Exercise 2 (*): what does one_parrot print under censored("1") | numbered(), and what under
// numbered() | censored("1")?  Without the newline.  Write it down before you run it.
inline eff<void, console> one_parrot() { co_await console::print_line("1 parrot"); }
inline std::string censored_first() { return ""; }
inline std::string numbered_first() { return ""; }

// Exercise 3 (**): holds back the text that `program` prints, and prints it when the program has
// come to its end.  If the program throws, prints nothing.
template <class Program>
eff<void, console> at_once(Program program) {
  co_await program();
}

// Exercise 4 (**): ends the program at the first text that contains the word, and does not print
// that text.
class until_word : public handler<console> {
 public:
  explicit until_word(std::string word) : word_(std::move(word)) {}

  eff<void, console> on(console::print p, resumption<void> k) {
    co_await console::print(p.text);
    if (!word_.empty()) co_await std::move(k)();
  }
  eff<void, console> on(console::print_line p, resumption<void> k) {
    co_await console::print_line(p.text);
    if (!word_.empty()) co_await std::move(k)();
  }

 private:
  std::string word_;
};

// Exercise 5 (***): the console outside gets each line as one print_line, and the unfinished rest,
// if there is one, as one print in the end.  A piece may contain newlines.
template <class Program>
eff<void, console> line_by_line(Program program) {
  co_await program();
}

}  // namespace printing_is_an_effect
