// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "weft/effects/effects.hpp"
#ifdef SOLVED
#include "docs/exercises/11_twice/solutions.hpp"
#else
#include "docs/exercises/11_twice/exercises.hpp"
#endif

namespace twice {
namespace {

eff<int, coin> until_tails(int most) {
  for (int flips = 0; flips < most; ++flips) {
    bool const head = co_await coin::flip{};
    if (!head) co_return flips + 1;
  }
  co_return most;
}

TEST_CASE("1: the ways in which a game can go are counted", "[1]") {
  CHECK(run(handle(number_of_ways(), [] { return until_tails(0); })) == 1);
  CHECK(run(handle(number_of_ways(), [] { return until_tails(4); })) == 5);
  int steps = 0;
  auto const three_flips = [at = &steps] { return long_game(3, at); };
  CHECK(run(handle(number_of_ways(), three_flips)) == 8);
}

TEST_CASE("2: the lines of a game that is resumed twice with heads are predicted", "[2]") {
  std::string text;
  run(handle(heads_twice() | console_to_string(text), game));
  std::string predicted;
  for (std::string const& line : lines_of_heads_twice()) predicted += line + '\n';
  CHECK(predicted == text);
}

template <class Policy>
int steps_of(int n) {
  int steps = 0;
  auto const body = [n, at = &steps] { return long_game(n, at); };
  run(handle(both_sides(), body, Policy()));
  return steps;
}

TEST_CASE("3: the steps of a game are predicted for any length", "[3]") {
  for (int n = 1; n <= 7; ++n) {
    CHECK(steps_by_replay(n) == steps_of<replay>(n));
    CHECK(steps_bitwise(n) == steps_of<bitwise>(n));
  }
}

TEST_CASE("4: a game that asks for the day can be replayed", "[4]") {
  for (int i = 0; i < 2; ++i) {
    std::string text;
    CHECK(play_under_the_sky(text) == results{2, 3});
    CHECK(text == "what a fine day\n");
  }
}

TEST_CASE("5: the lines of a comparison are predicted", "[5]") {
  std::string text;
  run(handle(both_sides() | console_to_string(text), game, compared()));
  CHECK(lines_when_compared() == std::count(text.begin(), text.end(), '\n'));
}

TEST_CASE("6: the games with the fewest flips end first", "[6]") {
  CHECK(breadth_first([] { return until_tails(0); }) == results{0});
  CHECK(breadth_first([] { return until_tails(3); }) == results{1, 2, 3, 3});
  int steps = 0;
  CHECK(breadth_first([at = &steps] { return long_game(2, at); }) == results{2, 1, 1, 0});
}

}  // namespace
}  // namespace twice
