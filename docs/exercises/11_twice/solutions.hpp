// SPDX-License-Identifier: MIT
#pragma once

// Solutions of the exercises of docs/11_twice.md.

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
  eff<int> on(coin::flip, multi_resumption<bool, int> k) {
    int const with_heads = co_await k(true);
    int const with_tails = co_await k(false);
    co_return with_heads + with_tails;
  }
  int on_return(int) { return 1; }
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
inline std::vector<std::string> lines_of_heads_twice() {
  return {"the game begins", "heads: 2", "heads: 2", "heads: 2", "heads: 2"};
}

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
inline int steps_by_replay(int n) { return n * (1 << n); }  // 2^n runs of n steps
inline int steps_bitwise(int n) { return (2 << n) - 2; }    // 2 + 4 + ... + 2^n

// Exercise 4 (**): the day is an effect.  The game asks for it when it begins, prints "what a fine
// day" on day 1, flips, and returns the day on which it ends.  The two ends have different days.
struct sky {
  struct [[nodiscard]] day : op<int> {};
  using operations = op_list<day>;
};
struct days_go_by : handler<sky> {
  int today = 0;
  int on(sky::day) { return ++today; }
};
inline eff<int, coin, console, sky> moody_game() {
  int const first = co_await sky::day{};
  if (first == 1) co_await console::print_line{"what a fine day"};
  co_await coin::flip{};
  int const last = co_await sky::day{};
  co_return last;
}
// Handles the game by both_sides, days_go_by and console_to_string, in an order to be found.
inline results play_under_the_sky(std::string& printed) {
  // Outside: one variable for all runs.  Inside, each run would have its own day 2.
  return run(handle(both_sides() | days_go_by() | console_to_string(printed), moody_game));
}

// Exercise 5 (**): how many lines does handle(both_sides() | console_to_string(text), game,
// compared()) print?
inline int lines_when_compared() { return 10; }  // five by replay, five bitwise

// Exercise 6 (***): the results of the games with the fewest flips come first; those with the same
// number of flips in the order of both_sides.
class in_turn : public handler<coin>, public region {
 public:
  void on(coin::flip, multi_resumption<bool, void> k) { open_.push_back(std::move(k)); }
  void on_return(int result) { results_.push_back(result); }

  results finish() {
    while (!open_.empty()) {
      multi_resumption<bool, void> k = std::move(open_.front());
      open_.pop_front();
      resume(k, true);
      resume(std::move(k), false);
    }
    return results_;
  }

 private:
  std::deque<multi_resumption<bool, void>> open_;
  results results_;
};
template <class Game>
results breadth_first(Game game) {
  in_turn games;
  run(handle(games, game));
  return games.finish();
}

}  // namespace twice
