// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"
#ifdef SOLVED
#include "docs/exercises/13_choose/solutions.hpp"
#else
#include "docs/exercises/13_choose/exercises.hpp"
#endif

namespace choosing {
namespace {

TEST_CASE("1: the solutions of a program are predicted, in their order", "[1]") {
  CHECK(solutions_of_letters() == run(handle(all_solutions(), letters)));
}

TEST_CASE("2: each way to pay a sum is found once", "[2]") {
  for (auto const& [sum, ways] : {std::pair(5, 1), {10, 2}, {20, 4}, {50, 13}, {100, 49}, {3, 0}}) {
    auto const all = run(handle(all_solutions(), [s = sum] { return change(s); }));
    CHECK(all.size() == static_cast<std::size_t>(ways));
    CHECK(std::set<std::vector<int>>(all.begin(), all.end()).size() == all.size());
    for (std::vector<int> const& paid : all) {
      CHECK(std::accumulate(paid.begin(), paid.end(), 0) == sum);
      CHECK(std::is_sorted(paid.begin(), paid.end(), std::greater<>()));
    }
  }
}

TEST_CASE("3: a handler finds the first results, and tries nothing further", "[3]") {
  int tried = 0;
  auto const even = [&tried]() -> eff<int, choose> {
    int const tens = co_await one_of(std::views::iota(0, 4));
    int const ones = co_await one_of(std::views::iota(0, 4));
    ++tried;
    co_await guard(ones % 2 == 0);
    co_return 10 * tens + ones;
  };
  CHECK(run(handle(at_most(3), even)) == std::vector{0, 2, 10});
  CHECK(tried == 5);
  CHECK(run(handle(at_most(1), even)) == std::vector{0});
  CHECK(run(handle(at_most(100), even)).size() == 8);
  CHECK(run(handle(at_most(0), even)).empty());
}

double probability_of_true(std::vector<std::pair<bool, double>> results) {
  for (auto const& [value, p] : as_distribution(std::move(results)))
    if (value) return p;
  return 0;
}

TEST_CASE("4: a positive test is weighed against a rare illness", "[4]") {
  auto const given = [](double prevalence, double found, double wrong) {
    return probability_of_true(
        run(handle(weighted_solutions(), [=] { return is_ill(prevalence, found, wrong); })));
  };
  CHECK(given(0.001, 0.99, 0.05) == Approx(0.00099 / (0.00099 + 0.04995)));
  CHECK(given(0.5, 0.99, 0.05) == Approx(0.99 / 1.04));
  CHECK(given(0.5, 0.5, 0.5) == Approx(0.5));
  CHECK(given(0.2, 1, 0) == Approx(1));
}

bool is_knights_move(square a, square b) {
  int const columns = std::abs(a.column - b.column);
  int const rows = std::abs(a.row - b.row);
  return (columns == 1 && rows == 2) || (columns == 2 && rows == 1);
}

TEST_CASE("5: the knight visits each square once", "[5]") {
  for (auto const& [columns, rows, tours] :
       {std::tuple(1, 1, 1), {3, 4, 2}, {4, 3, 2}, {3, 3, 0}, {5, 4, 32}}) {
    auto const all = run(handle(all_solutions(), [c = columns, r = rows] { return tour(c, r); }));
    CHECK(all.size() == static_cast<std::size_t>(tours));
    for (std::vector<square> const& way : all) {
      CHECK(way.front() == square{0, 0});
      CHECK(std::set<square>(way.begin(), way.end()).size() ==
            static_cast<std::size_t>(columns * rows));
      bool are_moves = true;
      for (std::size_t i = 1; i != way.size(); ++i)
        are_moves = are_moves && is_knights_move(way[i - 1], way[i]);
      CHECK(are_moves);
    }
  }
}

TEST_CASE("6: every route that visits no place twice is found", "[6]") {
  town const roads{{'a', "bc"}, {'b', "ad"}, {'c', "bd"}, {'d', "ce"}, {'e', ""}};
  auto const routes = [&roads](char from, char to) {
    return run(handle(all_solutions(), [&, from, to] { return route(from, to, roads); }));
  };
  CHECK(routes('a', 'd') == std::vector<std::string>{"abd", "acbd", "acd"});
  CHECK(routes('b', 'e') == std::vector<std::string>{"bacde", "bde"});
  CHECK(routes('e', 'a').empty());
  CHECK(routes('c', 'c') == std::vector<std::string>{"c"});
}

eff<int, choose> counts_to_nine() {
  int n = 0;
  for (;;) {
    bool const more = co_await one_of(true, false);
    if (!more) break;
    ++n;
  }
  co_await guard(n == 9 || n == 12);
  co_return n;
}
eff<int, choose> chooses_nothing() { co_return 7; }
eff<int, choose> two_branches() {
  int const length = co_await one_of(5, 2, 4);
  for (int i = 0; i != length; ++i) co_await one_of(0, 1);
  co_return length;
}

TEST_CASE("7: a search within a bound ends, and one that deepens finds the nearest result", "[7]") {
  CHECK_FALSE(run(handle(within(0), counts_to_nine)));
  CHECK_FALSE(run(handle(within(9), counts_to_nine)));
  CHECK(run(handle(within(10), counts_to_nine)) == 9);
  CHECK(run(handle(within(20), two_branches)) == 5);
  CHECK(shallowest(counts_to_nine) == 9);
  CHECK(shallowest(chooses_nothing) == 7);
  CHECK(shallowest(two_branches) == 2);
}

}  // namespace
}  // namespace choosing
