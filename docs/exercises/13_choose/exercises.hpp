// SPDX-License-Identifier: MIT
#pragma once

// The exercises of docs/13_choose.md.  Complete each function; its test says what it must do.

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
inline std::vector<std::string> solutions_of_letters() { return {}; }

// Exercise 2 (*): chooses coins of 50, 20, 10 and 5 cents that add up to `sum`, the larger ones
// first.  All solutions together are the ways to pay, each of them once.
inline eff<std::vector<int>, choose> change(int sum) {
  std::array const coins{50, 20, 10, 5};
  int const coin = co_await one_of(coins);
  co_await guard(coin == sum);
  co_return std::vector<int>{coin};
}

// Exercise 3 (**): answers with a vector of the first n results, and tries nothing further.
class at_most : public handler<choose> {
 public:
  explicit at_most(std::size_t n) : left_(n) {}

  template <class A>
  eff<A> on(choose::among c, multi_resumption<std::size_t, A> k) {
    (void)c;
    (void)left_;
    co_return co_await k(std::size_t{0});
  }
  template <class A>
  A on(choose::fail, resumption<never, A>) {
    return A();
  }
  template <class T>
  std::vector<T> on_return(T result) {
    return {std::move(result)};
  }

 private:
  std::size_t left_;
};

// Exercise 4 (**): `prevalence` is the probability of an illness.  A test says "ill" with the
// probability `found` if a person is ill, and `wrong` if not.  It says "ill": is the person ill?
inline eff<bool, choose> is_ill(double prevalence, double found, double wrong) {
  (void)found;
  (void)wrong;
  co_return co_await with_probability(prevalence);
}

// Exercise 5 (**): a knight starts at {0, 0} and visits each square of the board once.
struct square {
  int column = 0;
  int row = 0;
  friend auto operator<=>(square const&, square const&) = default;
};
inline eff<std::vector<square>, choose> tour(int columns, int rows) {
  std::vector<square> way{{0, 0}};
  co_await guard(columns * rows == 1);
  co_return way;
}

// Exercise 6 (**): a route that visits no place twice.
using town = std::map<char, std::string>;
inline eff<std::string, choose> route(char from, char to, town const& roads) {
  std::string way(1, from);
  while (way.back() != to) {
    std::string const& nexts = roads.at(way.back());
    char const next = co_await one_of(nexts);
    way += next;
    co_await guard(way.back() == to);
  }
  co_return way;
}

// Exercise 7 (***): answers as first_solution does, but a way fails at its choice number n + 1.
class within : public handler<choose> {
 public:
  explicit within(int n) : left_(n) {}

  template <class A>
  eff<A> on(choose::among c, multi_resumption<std::size_t, A> k) {
    (void)c;
    (void)k;
    (void)left_;
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
  return run(handle(within(0), body));
}

}  // namespace choosing
