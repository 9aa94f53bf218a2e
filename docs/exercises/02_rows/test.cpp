// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <iostream>
#include <string>
#include <type_traits>

#include "weft/effects/effects.hpp"
#ifdef SOLVED
#include "docs/exercises/02_rows/solutions.hpp"
#else
#include "docs/exercises/02_rows/exercises.hpp"
#endif

namespace rows {
namespace {

eff<void, till, shortage> cake() { return serve_as_it_was("cake", 30, 20); }

struct sale {
  bool is_done;
  int sum;
  std::string text;
};
template <class Body>
sale sold_by(Body body, int sum = 0) {
  std::string text;
  bool const is_done = run(
      handle(failure_to_optional<std::string>() | state_in(sum) | console_to_string(text), body));
  return {is_done, sum, text};
}
template <class Body>
sale paid_by(Body body, int sum) {
  std::string text;
  bool const is_done = run(
      handle(paid_only(sum) | failure_to_optional<std::string>() | console_to_string(text), body));
  return {is_done, sum, text};
}

struct change {
  bool is_done;
  int small, large;
};
change changed(int small, int large) {
  bool const is_done = run(handle(failure_to_optional<std::string>() |
                                      with<tagged<coins, state<int>>>(state_in(small)) |
                                      with<tagged<bills, state<int>>>(state_in(large)),
                                  change_bill));
  return {is_done, small, large};
}

// What the till prints for two customers; the first one has `money`.
std::string two_customers(int money) {
  std::string text;
  auto const body = [money]() -> eff<void, till> {
    bool const first =
        co_await unless_it_fails([money] { return serve_as_it_was("tea", 3, money); });
    co_await console::print_line(first ? "paid" : "not paid");
    bool const second = co_await unless_it_fails([] { return serve_as_it_was("bread", 4, 4); });
    co_await console::print_line(second ? "paid" : "not paid");
  };
  run(handle(state_of(0) | console_to_string(text), body));
  return text;
}

TEST_CASE("1: the types of the answers in two orders are predicted", "[1]") {
  auto const given_up = failure_to_variant<std::string>();
  auto const printed = console_to_stream(std::cout);
  using inside = decltype(run(handle(state_returned(0) | given_up | printed, cake)));
  using outside = decltype(run(handle(given_up | state_returned(0) | printed, cake)));
  CHECK(std::is_same_v<answer_inside, inside>);
  CHECK(std::is_same_v<answer_outside, outside>);
}

TEST_CASE("2: a customer without enough money changes nothing", "[2]") {
  sale const failed = sold_by([] { return serve("cake", 30, 20); }, 5);
  CHECK(!failed.is_done);
  CHECK(failed.sum == 5);
  CHECK(failed.text.empty());
  sale const done = sold_by([] { return serve("tea", 3, 3); }, 5);
  CHECK(done.is_done);
  CHECK(done.sum == 8);
  CHECK(done.text == "sold: tea\n");
}

TEST_CASE("3: a function is called a number of times, in its own row", "[3]") {
  CHECK(sold_by([] { return times(3, [] { return sell("egg", 2); }); }).sum == 6);
  CHECK(sold_by([] { return times(0, [] { return sell("egg", 2); }); }).sum == 0);
  auto const with_failure = times(1, [] { return serve_as_it_was("egg", 2, 1); });
  CHECK(std::is_same_v<decltype(with_failure)::effects, eff<void, till, shortage>::effects>);
}

TEST_CASE("4: a bill is changed into ten coins if there is one", "[4]") {
  change const done = changed(3, 2);
  CHECK(done.is_done);
  CHECK(done.small == 13);
  CHECK(done.large == 1);
  change const failed = changed(3, 0);
  CHECK(!failed.is_done);
  CHECK(failed.small == 3);
  CHECK(failed.large == 0);
}

TEST_CASE("5: a failure ends the function that was called, and no more", "[5]") {
  CHECK(two_customers(3) == "sold: tea\npaid\nsold: bread\npaid\n");
  CHECK(two_customers(2) == "sold: tea\nnot paid\nsold: bread\npaid\n");
}

TEST_CASE("6: a sum changes only if the customer has paid", "[6]") {
  sale const failed = paid_by(cake, 7);
  CHECK(!failed.is_done);
  CHECK(failed.sum == 7);
  sale const done = paid_by(
      []() -> eff<void, till, shortage> {
        co_await serve_as_it_was("tea", 3, 3);
        co_await serve_as_it_was("bread", 4, 5);
      },
      7);
  CHECK(done.is_done);
  CHECK(done.sum == 14);
}

}  // namespace
}  // namespace rows
