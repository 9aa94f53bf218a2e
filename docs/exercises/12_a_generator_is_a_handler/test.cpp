// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <ranges>
#include <string>
#include <vector>

#include "weft/effects/effects.hpp"
#ifdef SOLVED
#include "docs/exercises/12_a_generator_is_a_handler/solutions.hpp"
#else
#include "docs/exercises/12_a_generator_is_a_handler/exercises.hpp"
#endif

namespace a_generator_is_a_handler {
namespace {

using values = std::vector<int>;

eff<void, ints> all_of(values some) {
  for (int const n : some) co_await ints::value{n};
}

TEST_CASE("1: a computation emits the numbers on the way to 1", "[1]") {
  auto const from = [](int n) { return run(handle(emit_to_vector<int>(), collatz(n))); };
  CHECK(from(1) == values{1});
  CHECK(from(8) == values{8, 4, 2, 1});
  CHECK(from(3) == values{3, 10, 5, 16, 8, 4, 2, 1});
}

TEST_CASE("2: the number of values that a range makes is predicted", "[2]") {
  int made = 0;
  int sum = 0;
  for (int const n : each(counting, &made) | std::views::take(3)) sum += n;
  CHECK(made_for_take() == made);
  made = 0;
  for (int const n : each(counting, &made)) {
    sum += n;
    if (n == 3) break;
  }
  CHECK(made_for_break() == made);
  CHECK(sum == 12);
}

TEST_CASE("3: a handler lets the first values pass and drops the rest", "[3]") {
  auto const pushed = [](int n) {
    int made = 0;
    values const all = run(handle(first(n) | emit_to_vector<int>(), counting(&made)));
    CHECK(made == n);
    return all;
  };
  CHECK(pushed(1) == values{1});
  CHECK(pushed(4) == values{1, 2, 3, 4});
  CHECK(run(handle(first(5) | emit_to_vector<int>(), all_of({7, 8}))) == values{7, 8});
}

TEST_CASE("4: two sorted computations are merged", "[4]") {
  auto const both = [](values a, values b) {
    return run(handle(emit_to_vector<int>(), merged([a] { return all_of(a); },  //
                                                    [b] { return all_of(b); })));
  };
  CHECK(both({1, 4, 5}, {2, 3, 9}) == values{1, 2, 3, 4, 5, 9});
  CHECK(both({}, {1, 2}) == values{1, 2});
  CHECK(both({1, 2}, {}) == values{1, 2});
  CHECK(both({3}, {1, 1}) == values{1, 1, 3});
}

eff<void, ints, console> aloud(values some) {
  for (int const n : some) {
    co_await console::print(std::to_string(n) + " ");
    co_await ints::value{n};
  }
  co_await console::print("end ");
}

TEST_CASE("5: two computations that print are merged", "[5]") {
  std::string text;
  auto const both = [&text](values a, values b) {
    text.clear();
    return run(
        handle(emit_to_vector<int>() | console_to_string(text), merged_aloud(aloud(a), aloud(b))));
  };
  CHECK(both({1, 4}, {2, 3}) == values{1, 2, 3, 4});
  CHECK(text == "1 2 4 3 end end ");
  CHECK(both({}, {7}) == values{7});
  CHECK(text == "end 7 end ");
}

values read(place p) {
  values all;
  for (; p.value; p = after(p)) all.push_back(*p.value);
  return all;
}

TEST_CASE("6: a stream is read again from any of its places", "[6]") {
  place const begin = run(handle(bookmarks(), [] { return all_of({1, 2, 3, 4}); }));
  CHECK(read(begin) == values{1, 2, 3, 4});
  place const third = after(after(begin));
  CHECK(read(third) == values{3, 4});
  CHECK(read(begin) == values{1, 2, 3, 4});
  CHECK(read(third) == values{3, 4});
}

}  // namespace
}  // namespace a_generator_is_a_handler
