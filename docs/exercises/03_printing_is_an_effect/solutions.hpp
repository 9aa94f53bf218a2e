// SPDX-License-Identifier: MIT
#pragma once

// Solutions of the exercises of docs/03_printing_is_an_effect.md.

#include <cstddef>
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
    if (std::exchange(at_start_, false)) up(console::print("  "));
  }
  bool at_start_ = true;
};

// Exercise 2 (*): what does one_parrot print under censored("1") | numbered(), and what under
// numbered() | censored("1")?  Without the newline.  Write it down before you run it.
inline eff<void, console> one_parrot() { co_await console::print_line("1 parrot"); }
inline std::string censored_first() { return "1 * parrot"; }
inline std::string numbered_first() { return "* * parrot"; }

// Exercise 3 (**): holds back the text that `program` prints, and prints it when the program has
// come to its end.  If the program throws, prints nothing.
template <class Program>
eff<void, console> at_once(Program program) {
  std::string text;
  co_await handle(console_to_string(text), program);
  co_await console::print(text);
}

// Exercise 4 (**): ends the program at the first text that contains the word, and does not print
// that text.
class until_word : public handler<console> {
 public:
  explicit until_word(std::string word) : word_(std::move(word)) {}

  eff<void, console> on(console::print p, resumption<void> k) {
    if (p.text.find(word_) != std::string::npos) co_return;
    co_await console::print(p.text);
    co_await std::move(k)();
  }
  eff<void, console> on(console::print_line p, resumption<void> k) {
    if (p.text.find(word_) != std::string::npos) co_return;
    co_await console::print_line(p.text);
    co_await std::move(k)();
  }

 private:
  std::string word_;
};

// Exercise 5 (***): the console outside gets each line as one print_line, and the unfinished rest,
// if there is one, as one print in the end.  A piece may contain newlines.
class lines_only : public handler<console> {
 public:
  explicit lines_only(std::string& rest) : rest_(rest) {}

  void on(console::print const& p, outer<console> up) const {
    rest_ += p.text;
    print_lines(up);
  }
  void on(console::print_line const& p, outer<console> up) const {
    rest_ += p.text + '\n';
    print_lines(up);
  }

 private:
  void print_lines(outer<console> const& up) const {
    std::size_t begin = 0;
    for (auto end = rest_.find('\n'); end != rest_.npos; end = rest_.find('\n', begin)) {
      up(console::print_line(rest_.substr(begin, end - begin)));
      begin = end + 1;
    }
    rest_.erase(0, begin);
  }
  std::string& rest_;
};
template <class Program>
eff<void, console> line_by_line(Program program) {
  std::string rest;
  co_await handle(lines_only(rest), program);
  if (!rest.empty()) co_await console::print(rest);
}

}  // namespace printing_is_an_effect
