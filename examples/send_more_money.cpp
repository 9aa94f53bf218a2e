// SPDX-License-Identifier: MIT

/// SEND + MORE = MONEY: which digits are the letters, if no two are the same?
///
/// The search is written as addition is taught, column by column from the right.  A digit that is
/// not known yet is chosen; if a column does not add up, the choice fails.  The search does not
/// backtrack by itself: its handler does.
///
/// Kinds of clause: `all_solutions` resumes each choice any number of times.  It does so by running
/// the puzzle again from its beginning, with the old answers; so the digits are plain local
/// variables, and each alternative has its own.  Failing early saves twice: the steps that would
/// follow, and the replay up to there.  There are 1 814 400 ways to give eight letters a digit;
/// this search begins the puzzle 5555 times.

#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>

using namespace weft;

/// The known digits of the letters.
class digits {
 public:
  [[nodiscard]] bool has(char letter) const { return of_.at(index(letter)) >= 0; }
  [[nodiscard]] int of(char letter) const { return of_.at(index(letter)); }
  [[nodiscard]] bool is_free(int digit) const { return std::ranges::count(of_, digit) == 0; }
  void set(char letter, int digit) { of_.at(index(letter)) = digit; }

  [[nodiscard]] std::string text(std::string_view word) const {
    std::string all;
    for (char const letter : word) all += std::to_string(of(letter));
    return all;
  }

 private:
  static std::size_t index(char letter) { return static_cast<std::size_t>(letter - 'A'); }
  std::array<int, 26> of_ = [] {
    std::array<int, 26> none{};
    none.fill(-1);
    return none;
  }();
};

struct puzzle {
  std::vector<std::string> addends;
  std::string sum;

  /// The letter in a column, counted from the right; a blank if the word is shorter.
  static char at(std::string const& word, std::size_t column) {
    return column < word.size() ? word[word.size() - 1 - column] : ' ';
  }
  [[nodiscard]] bool may_be_zero(char letter) const {
    return letter != sum.front() &&
           std::ranges::none_of(addends, [letter](auto const& w) { return w.front() == letter; });
  }
};

/// The digit of a letter: the known one, or a choice of the unused ones.
eff<int, choose> digit_of(char letter, puzzle const& p, digits& known) {
  if (letter == ' ') co_return 0;
  if (!known.has(letter)) {
    std::vector<int> left;
    for (int d = p.may_be_zero(letter) ? 0 : 1; d != 10; ++d)
      if (known.is_free(d)) left.push_back(d);
    int const digit = co_await one_of(left);
    known.set(letter, digit);
  }
  co_return known.of(letter);
}

/// Sets the letter to this digit, or fails.
eff<void, choose> must_be(char letter, int digit, puzzle const& p, digits& known) {
  if (letter == ' ' || known.has(letter)) {
    co_await guard(digit == (letter == ' ' ? 0 : known.of(letter)));
  } else {
    co_await guard(known.is_free(digit) && (digit != 0 || p.may_be_zero(letter)));
    known.set(letter, digit);
  }
}

eff<digits, choose> solve(puzzle const& p) {
  digits known;
  int carry = 0;
  for (std::size_t column = 0; column != p.sum.size(); ++column) {
    int total = carry;
    for (std::string const& word : p.addends) {
      int const digit = co_await digit_of(puzzle::at(word, column), p, known);
      total += digit;
    }
    co_await must_be(puzzle::at(p.sum, column), total % 10, p, known);
    carry = total / 10;
  }
  co_await guard(carry == 0);
  co_return known;
}

eff<void, console> print_solutions(puzzle p) {
  int begun = 0;
  auto const body = [&p, &begun] {
    ++begun;
    return solve(p);
  };
  auto const all = co_await handle(all_solutions(), body);

  std::ostringstream out;
  for (char const* plus = ""; std::string const& word : p.addends)
    out << std::exchange(plus, " + ") << word;
  out << " = " << p.sum << ": " << all.size() << (all.size() == 1 ? " solution" : " solutions")
      << ", begun " << begun << " times\n";
  for (digits const& solution : all) {
    for (char const* plus = "  "; std::string const& word : p.addends)
      out << std::exchange(plus, " + ") << solution.text(word);
    out << " = " << solution.text(p.sum) << '\n';
  }
  co_await console::print(out.str());
}

/// One process for each puzzle: on several threads, several searches at a time.
eff<void, spawning<console>> all_puzzles() {
  std::vector<puzzle> const puzzles{{{"SEND", "MORE"}, "MONEY"},
                                    {{"TO", "GO"}, "OUT"},
                                    {{"NO", "GUN", "NO"}, "HUNT"},
                                    {{"ME", "ME"}, "BEE"}};
  for (puzzle const& p : puzzles) co_await spawn(print_solutions, p);
}

int main(int argc, char** argv) {
  examples::backend(argc, argv).schedule(all_puzzles, console_to_stream(std::cout));
}
