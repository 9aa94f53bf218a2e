// SPDX-License-Identifier: MIT
#pragma once

// Solutions of the exercises of docs/13_choose.md.

#include <array>
#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"

namespace choosing {

using namespace weft;

// Exercise 1 (*): what does all_solutions answer for `letters`?  Write it down before you run it.
inline eff<std::string, choose> letters() {
  std::string text;
  while (text.size() != 3) {
    char const next = co_await one_of('a', 'b');
    co_await guard(text.empty() || text.back() == 'a' || next == 'a');
    text += next;
  }
  co_return text;
}
inline std::vector<std::string> solutions_of_letters() {
  return {"aaa", "aab", "aba", "baa", "bab"};
}

// Exercise 2 (*): chooses coins of 50, 20, 10 and 5 cents that add up to `sum`, the larger ones
// first.  All solutions together are the ways to pay, each of them once.
inline eff<std::vector<int>, choose> change(int sum) {
  std::array const coins{50, 20, 10, 5};
  std::vector<int> paid;
  for (std::size_t i = 0; sum != 0;) {
    std::vector<std::size_t> possible;
    for (std::size_t j = i; j != coins.size(); ++j)
      if (coins.at(j) <= sum) possible.push_back(j);
    i = co_await one_of(possible);
    paid.push_back(coins.at(i));
    sum -= coins.at(i);
  }
  co_return paid;
}

// Exercise 3 (**): answers with a vector of the first n results, and tries nothing further.
class at_most : public handler<choose> {
 public:
  explicit at_most(std::size_t n) : left_(n) {}

  template <class A>
  eff<A> on(choose::among c, multi_resumption<std::size_t, A> k) {
    A all;
    for (std::size_t i = 0; i != c.count && left_ != 0; ++i) {
      A some = co_await k(i);
      for (auto& result : some) all.push_back(std::move(result));
    }
    co_return all;
  }
  template <class A>
  A on(choose::fail, resumption<never, A>) {
    return A();
  }
  template <class T>
  std::vector<T> on_return(T result) {
    if (left_ == 0) return {};
    --left_;
    return {std::move(result)};
  }

 private:
  std::size_t left_;
};

// Exercise 4 (**): `prevalence` is the probability of an illness.  A test says "ill" with the
// probability `found` if a person is ill, and `wrong` if not.  It says "ill": is the person ill?
inline eff<bool, choose> is_ill(double prevalence, double found, double wrong) {
  bool const ill = co_await with_probability(prevalence);
  bool const says_ill = co_await with_probability(ill ? found : wrong);
  co_await guard(says_ill);
  co_return ill;
}

// Exercise 5 (**): a knight starts at {0, 0} and visits each square of the board once.
struct square {
  int column = 0;
  int row = 0;
  friend auto operator<=>(square const&, square const&) = default;
};
inline eff<std::vector<square>, choose> tour(int columns, int rows) {
  constexpr std::array moves{square{1, 2},   square{2, 1},   square{2, -1}, square{1, -2},
                             square{-1, -2}, square{-2, -1}, square{-2, 1}, square{-1, 2}};
  std::vector<square> way{{0, 0}};
  while (static_cast<int>(way.size()) != columns * rows) {
    std::vector<square> free;
    for (square const move : moves) {
      square const to{way.back().column + move.column, way.back().row + move.row};
      bool is_free = 0 <= to.column && to.column < columns && 0 <= to.row && to.row < rows;
      for (square const visited : way) is_free = is_free && visited != to;
      if (is_free) free.push_back(to);
    }
    square const next = co_await one_of(free);
    way.push_back(next);
  }
  co_return way;
}

// Exercise 6 (**): a route that visits no place twice.
using town = std::map<char, std::string>;
inline eff<std::string, choose> route(char from, char to, town const& roads) {
  std::string way(1, from);
  while (way.back() != to) {
    std::string const& nexts = roads.at(way.back());
    char const next = co_await one_of(nexts);
    co_await guard(way.find(next) == std::string::npos);
    way += next;
  }
  co_return way;
}

// Exercise 7 (***): answers as first_solution does, but a way fails at its choice number n + 1.
class within : public handler<choose> {
 public:
  explicit within(int n) : left_(n) {}

  template <class A>
  eff<A> on(choose::among c, multi_resumption<std::size_t, A> k) {
    if (left_ == 0) co_return A();
    --left_;  // while this clause waits for a continuation, it is one of the way's choices
    for (std::size_t i = 0; i != c.count; ++i) {
      A found = co_await k(i);
      if (found) co_return found;
    }
    ++left_;
    co_return A();
  }
  template <class A>
  A on(choose::fail, resumption<never, A>) {
    return A();
  }
  template <class T>
  std::optional<T> on_return(T result) {
    return std::optional<T>(std::move(result));
  }

 private:
  int left_;
};
// The result with the fewest choices, by iterative deepening.
inline std::optional<int> shallowest(eff<int, choose> (*body)()) {
  for (int n = 0;; ++n)
    if (auto found = run(handle(within(n), body))) return found;
}

}  // namespace choosing
