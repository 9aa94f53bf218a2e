// SPDX-License-Identifier: MIT
#pragma once

// The exercises of docs/11_twice.md.  Complete each function and handler; its test says what it
// must do.

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"

namespace twice {

using namespace weft;

struct coin {
  struct [[nodiscard]] flip : op<bool> {};
  using operations = op_list<flip>;
};

using results = std::vector<int>;

struct both_sides : handler<coin> {
  eff<results> on(coin::flip, multi_resumption<bool, results> k) const {
    results all = co_await k(true);
    results const others = co_await std::move(k)(false);
    all.insert(all.end(), others.begin(), others.end());
    co_return all;
  }
  results on_return(int heads) const { return {heads}; }
};

inline eff<int, coin, console> game() {
  co_await console::print_line{"the game begins"};
  int heads = 0;
  for (int i = 0; i < 2; ++i) {
    bool const head = co_await coin::flip{};
    if (head) ++heads;
  }
  co_await console::print_line{"heads: " + std::to_string(heads)};
  co_return heads;
}

// Exercise 1 (*): the answer is the number of ways the game can go.
struct number_of_ways : handler<coin> {
  bool on(coin::flip) { return true; }
};

// Exercise 2 (*): the lines that `game` prints under this handler, in their order.
struct heads_twice : handler<coin> {
  eff<results> on(coin::flip, multi_resumption<bool, results> k) {
    results all = co_await k(true);
    results const others = co_await k(true);
    all.insert(all.end(), others.begin(), others.end());
    co_return all;
  }
  results on_return(int heads) { return {heads}; }
};
inline std::vector<std::string> lines_of_heads_twice() { return {}; }

// Exercise 3 (*): the value of *steps after `long_game` was handled by both_sides, for any `n`, by
// replay and bitwise.
inline eff<int, coin> long_game(int n, int* steps) {
  int heads = 0;
  for (int i = 0; i < n; ++i) {
    bool const head = co_await coin::flip{};
    ++*steps;
    if (head) ++heads;
  }
  co_return heads;
}
inline int steps_by_replay(int /*n*/) { return 0; }
inline int steps_bitwise(int /*n*/) { return 0; }

// Exercise 4 (**): the day is an effect.  The game asks for it when it begins, prints "what a fine
// day" on day 1, flips, and returns the day on which it ends.  The two ends have different days.
struct sky {
  struct [[nodiscard]] day : op<int> {};
  using operations = op_list<day>;
};
struct days_go_by : handler<sky> {
  int on(sky::day) { return 0; }
};
inline int days = 0;
inline eff<int, coin, console, sky> moody_game() {
  ++days;
  if (days == 1) co_await console::print_line{"what a fine day"};
  co_await coin::flip{};
  co_return days;
}
// Handles the game by both_sides, days_go_by and console_to_string, in an order to be found.
inline results play_under_the_sky(std::string& /*printed*/) { return {}; }

// Exercise 5 (**): how many lines does handle(both_sides() | console_to_string(text), game,
// compared()) print?
inline int lines_when_compared() { return 0; }

// Exercise 6 (***): the results of the games with the fewest flips come first; those with the same
// number of flips in the order of both_sides.
template <class Game>
results breadth_first(Game game) {
  return run(handle(both_sides(), game));
}

}  // namespace twice
