// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "weft/effects/effects.hpp"
#ifdef SOLVED
#include "docs/exercises/10_what_a_resumption_is/solutions.hpp"
#else
#include "docs/exercises/10_what_a_resumption_is/exercises.hpp"
#endif

namespace what_a_resumption_is {
namespace {

TEST_CASE("1: the events after a clause has thrown are predicted", "[1]") {
  CHECK(events_of_a_throw() == what_happens());
}

eff<int, advice> asks_politely(std::string& heard) {
  int hours = 0;
  try {
    hours = co_await advice::ask("how long?");
  } catch (std::runtime_error const& e) {
    heard = e.what();
    hours = -3;
  }
  co_return hours;
}

TEST_CASE("2: an office that closes throws at the question that waits", "[2]") {
  std::string heard;
  office o;
  CHECK(run(handle(o, asks_politely(heard))) == 0);
  CHECK(o.close() == -3);
  CHECK(heard == "closed");
}

eff<int, advice> journey_of(int miles) {
  int const hours = co_await advice::ask("how many hours?");
  co_return miles + hours;
}

TEST_CASE("3: the latest question is answered first", "[3]") {
  last_asked_first l;
  for (int const miles : {100, 200, 300}) run(handle(l, journey_of(miles)));
  CHECK(l.answer_all(5) == std::vector{305, 205, 105});
  CHECK(l.answer_all(5).empty());
  run(handle(l, journey_of(10)));
  CHECK(l.answer_all(7) == std::vector{17});
}

eff<int, advice> asks(int times, int& sum) {
  for (int i = 0; i < times; ++i) sum += co_await advice::ask("and now?");
  co_return 1000;
}

TEST_CASE("4: a handler without data counts the questions", "[4]") {
  CHECK(std::is_empty_v<counts_questions>);
  for (int const times : {0, 1, 7}) {
    int sum = 0;
    CHECK(run(handle(counts_questions(), asks(times, sum))) == times);
    CHECK(sum == 5 * times);
  }
}

eff<void, advice> asks_twice(std::string first, std::string second, std::vector<int>& answers) {
  int const one = co_await advice::ask(first);
  answers.push_back(one);
  int const two = co_await advice::ask(second);
  answers.push_back(two);
}

TEST_CASE("5: two programs wait for callbacks at the same time", "[5]") {
  switchboard board;
  std::vector<int> answers;
  by_callback h(board);
  run(handle(h, asks_twice("a", "abc", answers)));
  run(handle(h, asks_twice("ab", "abcd", answers)));
  CHECK(answers.empty());
  CHECK(board.waiting() == 2);
  board.answer_all();
  CHECK(answers == std::vector{1, 2, 3, 4});
}

}  // namespace
}  // namespace what_a_resumption_is
