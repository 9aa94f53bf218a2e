// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#ifdef SOLVED
#include "docs/exercises/09_two_futures/solutions.hpp"
#else
#include "docs/exercises/09_two_futures/exercises.hpp"
#endif

namespace two_futures {
namespace {

template <class Program>
std::string printed_by(Program const& program) {
  std::string text;
  schedule(program, console_to_string(text));
  return text;
}

TEST_CASE("1: the right-hand traveller arrives first", "[1]") {
  CHECK(printed_by(right_first) == "right\nleft\n");
}

TEST_CASE("2: the number of lines is predicted", "[2]") {
  std::string const text = printed_by(three_days);
  CHECK(lines_of_three_days() == std::count(text.begin(), text.end(), '\n'));
}

TEST_CASE("3: the number of bags is predicted", "[3]") {
  bag::made = 0;
  bag::put_down = 0;
  schedule(bag_at_the_crossroads);
  CHECK(bags_made() == bag::made);
  CHECK(bags_put_down() == bag::put_down);
}

TEST_CASE("4: each text is printed by a process, in order", "[4]") {
  CHECK(printed_by([] { return print_each({}); }).empty());
  CHECK(printed_by([] { return print_each({"a", "b", "c"}); }) == "a\nb\nc\n");
}

TEST_CASE("5: the order of four arrivals is predicted", "[5]") {
  std::string lines;
  for (std::string const& line : arrivals()) lines += line + '\n';
  CHECK(lines == printed_by(winding_road));
}

TEST_CASE("6: a handler knows one road only", "[6]") {
  std::string text;
  auto const travels = []() -> eff<void, proc, console> {
    co_await console::print_line{co_await proc::fork{} ? "left" : "right"};
    co_await proc::yield{};
    co_await console::print_line{co_await proc::fork{} ? "left" : "right"};
    co_await proc::exit{};
  };
  run(handle(one_road() | console_to_string(text), travels));
  CHECK(text == "left\nleft\n");
}

template <class Program>
std::string printed_newest_first(Program const& program) {
  std::string text;
  newest_first turns;
  run(handle(turns | console_to_string(text), program));
  turns.run_all();
  return text;
}

TEST_CASE("7: the process that became ready last runs first", "[7]") {
  CHECK(printed_newest_first(winding_road) == "LL\nLR\nRL\nRR\n");
  auto const two_travellers = []() -> eff<void, proc, console> {
    std::string const road = co_await proc::fork{} ? "left" : "right";
    for (std::string const day : {"1", "2"}) {
      co_await console::print_line{road + day};
      co_await proc::yield{};
    }
  };
  CHECK(printed_newest_first(two_travellers) == "left1\nleft2\nright1\nright2\n");
}

}  // namespace
}  // namespace two_futures
