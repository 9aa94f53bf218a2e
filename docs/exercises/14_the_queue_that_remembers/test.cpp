// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <cstddef>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#ifdef SOLVED
#include "docs/exercises/14_the_queue_that_remembers/solutions.hpp"
#else
#include "docs/exercises/14_the_queue_that_remembers/exercises.hpp"
#endif

namespace the_queue_that_remembers {
namespace {

// ---- the chapter's program of exercise 1

eff<void, proc, console, state<int>> takes_numbers() {
  for (int i = 0; i < 4; ++i) {
    int const n = co_await state<int>::get{};
    co_await state<int>::put{n + 1};
    co_await console::print{" " + std::to_string(n)};
    co_await proc::yield{};
  }
}
eff<void, proc, console> takes_its_own_numbers() { co_await handle(state_of(1), takes_numbers); }
template <class... Handlers>
std::string twice_from_the_middle(std::string what, auto program, int steps, Handlers... handlers) {
  std::string text = std::move(what) + ":";
  scheduler<> s;
  s.start(program, console_to_string(text), handlers...);
  for (int i = 0; i < steps; ++i) s.step();
  auto const here = s.checkpoint();
  s.run();
  text += " |";
  s.run(here);
  return text;
}

TEST_CASE("1: two lines are predicted", "[1]") {
  auto const [outside, inside] = after_three_steps();
  CHECK(outside == twice_from_the_middle("outside", takes_numbers, 3, state_of(1)));
  CHECK(inside == twice_from_the_middle("inside", takes_its_own_numbers, 3));
}

// ---- programs of two processes

eff<void, proc, console> counts(std::string name, int to) {
  for (int i = 1; i <= to; ++i) {
    co_await console::print{name + std::to_string(i) + ' '};
    co_await proc::yield{};
  }
}
eff<void, proc, console> two_count() {
  bool const first = co_await proc::fork{};
  co_await counts(first ? "a" : "b", 2);
}

TEST_CASE("2: a future is printed twice, and the second time is returned", "[2]") {
  CHECK(second_future(two_count, 0) == "a1 b1 a2 b2 ");
  CHECK(second_future(two_count, 1) == "a1 b1 a2 b2 ");
  CHECK(second_future(two_count, 2) == "b1 a2 b2 ");
  CHECK(second_future(two_count, 4) == "b2 ");
  CHECK(second_future(two_count, 7) == "");
}

std::string edited(std::string_view keys) {
  editor e;
  for (char const key : keys) {
    if (key == '<')
      e.erase();
    else if (key == '-')
      e.undo();
    else if (key == '+')
      e.redo();
    else
      e.type(key);
  }
  return e.text();
}

TEST_CASE("3: an editor goes back and forth", "[3]") {
  CHECK(edited("weave") == "weave");
  CHECK(edited("weave<<ft") == "weaft");
  CHECK(edited("weave<<--") == "weave");
  CHECK(edited("weave---") == "we");
  CHECK(edited("weave---++") == "weav");
  CHECK(edited("weave---ft") == "weft");
  CHECK(edited("weave---f+++") == "wef");
  CHECK(edited("weave---ft---") == "w");
  CHECK(edited("--++<a") == "a");
}

TEST_CASE("4: each price leads to another future, and the first days are run once", "[4]") {
  later_price::asked = 0;
  CHECK(what_if({10, 20, 0}) == std::vector<std::string>{"100", "170", "30"});
  CHECK(later_price::asked == 2 + 3 * 2);
  CHECK(what_if({1, 2, 3, 4}) == std::vector<std::string>{"37", "44", "51", "58"});
}

/// Every way to do the steps of `a` and `b`, each of them in its order.
void interleave(std::string const& so_far, std::vector<std::string> const& a,
                std::vector<std::string> const& b, std::size_t i, std::size_t j,
                std::set<std::string>& all) {
  if (i == a.size() && j == b.size()) all.insert(so_far);
  if (i != a.size()) interleave(so_far + a[i], a, b, i + 1, j, all);
  if (j != b.size()) interleave(so_far + b[j], a, b, i, j + 1, all);
}

eff<void, proc, console> two_count_apart() {
  bool const first = co_await proc::fork{};
  co_await counts(first ? "a" : "b", first ? 3 : 2);
  if (!first) co_await proc::exit{};
  co_await console::print{"end "};
}

TEST_CASE("5: every order of the steps is tried", "[5]") {
  std::set<std::string> expected;
  interleave("", {"a1 ", "a2 "}, {"b1 ", "b2 "}, 0, 0, expected);
  CHECK(every_text(two_count) == expected);
  expected.clear();
  interleave("", {"a1 ", "a2 ", "a3 ", "end "}, {"b1 ", "b2 "}, 0, 0, expected);
  CHECK(every_text(two_count_apart) == expected);
}

}  // namespace
}  // namespace the_queue_that_remembers
