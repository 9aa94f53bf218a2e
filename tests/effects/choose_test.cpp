// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/small_stack.hpp"

/// Choice: asking for one of several values, and the handlers that try them.

using pair = std::pair<int, int>;

eff<pair, choose> summands(int sum) {
  int const a = co_await one_of(std::views::iota(1, sum));
  int const b = co_await one_of(std::views::iota(a, sum));
  co_await guard(a + b == sum);
  co_return pair(a, b);
}

TEST_CASE("all solutions come in the order of the choices") {
  every_frame_dies const check;
  CHECK(run(handle(all_solutions(), [] { return summands(5); })) ==
        std::vector<pair>{{1, 4}, {2, 3}});
  CHECK(run(handle(all_solutions(), [] { return summands(1); })).empty());

  auto const digits = []() -> eff<int, choose> {
    int n = 0;
    for (int i = 0; i != 3; ++i) {
      int const digit = co_await one_of(1, 2);
      n = 10 * n + digit;
    }
    co_return n;
  };
  CHECK(run(handle(all_solutions(), digits)) ==
        std::vector{111, 112, 121, 122, 211, 212, 221, 222});
}

using weighted_ints = std::vector<std::pair<int, double>>;

TEST_CASE("a body that makes no choice has one solution, and a body that fails has none") {
  every_frame_dies const check;
  auto const one = []() -> eff<int, choose> { co_return 3; };
  auto const none = []() -> eff<int, choose> { co_await choose::fail{}; };
  CHECK(run(handle(all_solutions(), one)) == std::vector{3});
  CHECK(run(handle(first_solution(), one)) == 3);
  CHECK(run(handle(weighted_solutions(), one)) == weighted_ints{{3, 1.0}});
  CHECK(run(handle(all_solutions(), none)).empty());
  CHECK(run(handle(first_solution(), none)) == std::nullopt);
  CHECK(run(handle(weighted_solutions(), none)).empty());
}

TEST_CASE("a choice from an empty range fails") {
  every_frame_dies const check;
  std::vector<int> const empty;
  auto const among_none = [&empty]() -> eff<int, choose> { co_return co_await one_of(empty); };
  CHECK(run(handle(all_solutions(), among_none)).empty());
  CHECK(run(handle(first_solution(), among_none)) == std::nullopt);
  CHECK(run(handle(weighted_solutions(), among_none)).empty());
}

TEST_CASE(
    "a body that computes void gives the number of ways, whether one exists, or the probability") {
  every_frame_dies const check;
  auto const coins = []() -> eff<void, choose> {
    bool const a = co_await with_probability(0.25);
    bool const b = co_await with_probability(0.5);
    co_await guard(a || b);
  };
  CHECK(run(handle(all_solutions(), coins)) == 3);
  CHECK(run(handle(first_solution(), coins)));
  CHECK(run(handle(weighted_solutions(), coins)) == Approx(1 - 0.75 * 0.5));

  auto const none = []() -> eff<void, choose> { co_await guard(false); };
  CHECK_FALSE(run(handle(first_solution(), none)));
}

TEST_CASE("the search for the first solution stops as soon as it is found") {
  every_frame_dies const check;
  int tried = 0;
  auto const body = [&tried]() -> eff<int, choose> {
    int const n = co_await one_of(std::views::iota(0, 100));
    ++tried;
    co_await guard(n * n > 30);
    co_return n;
  };
  CHECK(run(handle(first_solution(), body)) == 6);
  CHECK(tried == 7);
  CHECK(run(handle(first_solution(), [] { return summands(9); })) == pair(1, 8));
}

TEST_CASE("one_of chooses from a range or from given values") {
  every_frame_dies const check;
  std::vector<std::string> const words{"a", "b"};
  auto const body = [&words]() -> eff<std::string, choose> {
    std::string const first = co_await one_of(words);
    std::string const second = co_await one_of(std::string("x"), std::string("y"));
    co_return first + second;
  };
  CHECK(run(handle(all_solutions(), body)) == std::vector<std::string>{"ax", "ay", "bx", "by"});
}

TEST_CASE("a solution need only be movable") {
  every_frame_dies const check;
  auto const body = []() -> eff<std::unique_ptr<int>, choose> {
    int const n = co_await one_of(1, 2);
    int const m = co_await one_of(10, 20);
    co_return std::make_unique<int>(n + m);
  };
  int sum = 0;
  for (auto const& p : run(handle(all_solutions(), body))) sum += *p;
  CHECK(sum == 11 + 21 + 12 + 22);
  CHECK(*run(handle(first_solution(), body)).value() == 11);
  CHECK(run(handle(weighted_solutions(), body)).size() == 4);
}

TEST_CASE(
    "weighted solutions are exact probabilities in order, and failed ways are missing in the sum") {
  every_frame_dies const check;
  auto const rain = []() -> eff<std::string, choose> {
    bool const raining = co_await with_probability(0.25);
    bool const wet = co_await with_probability(raining ? 0.5 : 0.125);
    co_await guard(wet);
    co_return raining ? "rain" : "dew";
  };
  auto const wet = run(handle(weighted_solutions(), rain));  // powers of two: no rounding
  CHECK(wet == std::vector<std::pair<std::string, double>>{{"rain", 0.125}, {"dew", 0.09375}});

  auto const given = as_distribution(wet);
  REQUIRE(given.size() == 2);
  CHECK(given[0].first == "dew");
  CHECK(given[0].second == Approx(0.09375 / 0.21875));
  CHECK(given[1].second == Approx(0.125 / 0.21875));
}

/// The number of the `n` dice that show at least `at_least`; fails if all do.
eff<int, choose> lucky_dice(int n, int at_least) {
  int lucky = 0;
  for (int i = 0; i != n; ++i) {
    int const shown = co_await one_of(std::views::iota(1, 7));
    lucky += shown >= at_least;
  }
  co_await guard(lucky != n);
  co_return lucky;
}

TEST_CASE("a choice without weights is uniform, and as_distribution adds up equal results") {
  every_frame_dies const check;
  auto const luck =
      as_distribution(run(handle(weighted_solutions(), [] { return lucky_dice(2, 6); })));
  REQUIRE(luck.size() == 2);  // of 36 ways, 25 have none and 10 have one; the way with two failed
  CHECK(luck[0].first == 0);
  CHECK(luck[0].second == Approx(25.0 / 35));
  CHECK(luck[1].first == 1);
  CHECK(luck[1].second == Approx(10.0 / 35));
}

TEST_CASE("weights need not sum to 1, and no handler tries a value of weight zero") {
  every_frame_dies const check;
  int tried = 0;
  weighted_ints const weights{{1, 0.0}, {2, 6.0}, {3, 0.0}, {4, 2.0}};
  auto const body = [&]() -> eff<int, choose> {
    int const n = co_await one_of_weighted(weights);
    ++tried;
    co_return n;
  };
  CHECK(run(handle(weighted_solutions(), body)) == weighted_ints{{2, 0.75}, {4, 0.25}});
  CHECK(run(handle(all_solutions(), body)) == std::vector{2, 4});
  CHECK(run(handle(first_solution(), body)) == 2);
  CHECK(tried == 5);

  auto const weightless = []() -> eff<int, choose> {
    co_return co_await one_of_weighted(std::array{std::pair(1, 0.0)});
  };
  CHECK(run(handle(weighted_solutions(), weightless)).empty());
  CHECK_THROWS_AS(as_distribution(run(handle(weighted_solutions(), weightless))),
                  std::domain_error);
}

TEST_CASE("an invalid weight throws where it is given") {
  every_frame_dies const check;
  double const bad = GENERATE(-0.5, std::numeric_limits<double>::infinity(), std::nan(""));
  auto const body = [bad]() -> eff<int, choose> {
    int n = 0;
    try {
      n = co_await one_of_weighted(std::array{std::pair(1, 1.0), std::pair(2, bad)});
    } catch (std::invalid_argument const&) {
      n = -1;
    }
    co_return n;
  };
  CHECK(run(handle(all_solutions(), body)) == std::vector{-1});
}

TEST_CASE("an exception of the body ends the search, and everything in it is destroyed") {
  every_frame_dies const check;
  int tried = 0;
  auto const body = [&tried]() -> eff<int, choose> {
    int const n = co_await one_of(0, 1, 2);
    int const m = co_await one_of(0, 1, 2);
    ++tried;
    if (n == 1 && m == 1) throw std::runtime_error("enough");
    co_return n;
  };
  CHECK_THROWS_WITH(run(handle(all_solutions(), body)), "enough");
  CHECK(tried == 5);
}

TEST_CASE("a state inside belongs to each way, a state outside to all ways") {
  every_frame_dies const check;
  auto const counts = []() -> eff<int, choose, state<int>> {
    co_await one_of('a', 'b');
    co_await modify<int>([](int n) { return n + 1; });
    co_await one_of('c', 'd');
    co_await modify<int>([](int n) { return n + 10; });
    co_return co_await state<int>::get{};
  };
  auto const inside = [counts]() -> eff<int, choose> {
    co_return co_await handle(state_of(0), counts);
  };
  CHECK(run(handle(all_solutions(), inside)) == std::vector{11, 11, 11, 11});
  CHECK(run(handle(all_solutions() | state_of(0), counts)) == std::vector{11, 21, 32, 42});
}

TEST_CASE("a search inside a search answers its own choices") {
  every_frame_dies const check;
  auto const outer_body = []() -> eff<int, choose> {
    int const n = co_await one_of(1, 2, 3);
    std::size_t const ways = co_await handle(all_solutions(), [n]() -> eff<void, choose> {
      int const a = co_await one_of(std::views::iota(0, n));
      std::size_t const b = co_await outer_of<choose>(choose::among(2));
      co_await guard(a >= static_cast<int>(b));
    });
    co_return 10 * n + static_cast<int>(ways);
  };
  auto const all = run(handle(all_solutions(), outer_body));
  CHECK(all.size() == 2 + 4 + 8);
  CHECK(all.front() == 11);  // n = 1 asks once: 0
  CHECK(all.back() == 32);   // n = 3 asks three times: 1, 1, 1
}

TEST_CASE("a handler further out may suspend a search, and drop or resume it") {
  every_frame_dies const check;
  auto const ticking = []() -> eff<int, choose, tick> {
    int const n = co_await one_of(1, 2);
    co_await tick::now{};
    int const m = co_await one_of(10, 20);
    co_return n + m;
  };
  struct collects : region, handler<tick> {
    resumption<void, std::vector<int>> k;
    std::vector<int> on(tick::now, resumption<void, std::vector<int>> r) {
      k = std::move(r);
      return {};
    }
  };
  bool const go_on = GENERATE(true, false);
  collects h;
  CHECK(run(handle(all_solutions() | h, ticking)).empty());
  if (go_on) {
    CHECK(resume(std::move(h.k)).empty());  // at the second tick::now, that of the second way
    CHECK(resume(std::move(h.k)) == std::vector{11, 21, 12, 22});
  }
}

TEST_CASE(
    "a handler of choice may be any handler, such as a value clause that always takes the last") {
  every_frame_dies const check;
  auto const last = [](choose::among c) { return c.count - 1; };
  auto const none = [](choose::fail, resumption<never, pair>) { return pair(0, 0); };
  CHECK(run(handle<choose>(clauses{last, none}, [] { return summands(9); })) == pair(0, 0));
  auto const last_two = []() -> eff<pair, choose> {
    int const a = co_await one_of(1, 2);
    int const b = co_await one_of(3, 4);
    co_return pair(a, b);
  };
  CHECK(run(handle<choose>(clauses{last, none}, last_two())) == pair(2, 4));
}

TEST_CASE("a hundred thousand choices in sequence take no native stack") {
  every_frame_dies const check;
  std::size_t ways = 0;
  on_small_stack(512 * 1024, [&ways] {
    ways = run(handle(all_solutions(), []() -> eff<void, choose> {
      for (int i = 0; i != 100'000; ++i) co_await choose::among(1);
    }));
  });
  CHECK(ways == 1);
}
