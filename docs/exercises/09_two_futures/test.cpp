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

TEST_CASE("3: each text is printed by a process, in order", "[3]") {
  CHECK(printed_by([] { return print_each({}); }).empty());
  CHECK(printed_by([] { return print_each({"a", "b", "c"}); }) == "a\nb\nc\n");
}

TEST_CASE("4: a handler that knows one road", "[4]") {
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

}  // namespace
}  // namespace two_futures
