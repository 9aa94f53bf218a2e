// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/every_run.hpp"

auto each_walk() {
  return Catch::Generators::values({walk_strategy::uniform, walk_strategy::weighted,
                                    walk_strategy::pct, walk_strategy::portfolio});
}
/// Options that count all failures in place of stopping at the first.
random_walk_options all(std::uint64_t seed, walk_strategy by, std::size_t runs,
                        std::size_t depth = 3) {
  return {.seed = seed,
          .by = by,
          .depth = depth,
          .max_schedules = runs,
          .stop_at_failure = false,
          .progress = progress::never};
}

/// The order of each run, in turn.
std::vector<std::string> runs_of(random_walk_options const& options,
                                 std::vector<unsigned> const& steps) {
  every_frame_dies const here;
  std::vector<std::string> in_turn;
  random_walk(options, no_order, independent(steps), [&in_turn](std::string const& s) {
    in_turn.push_back(s);
    return s;
  });
  return in_turn;
}

TEST_CASE("a walk visits the same schedules for the same seed, and others for another seed") {
  walk_strategy const by = GENERATE(each_walk());
  std::vector<unsigned> const steps{4, 4, 4};
  auto const once = runs_of(all(7, by, 60), steps);
  CHECK(once.size() >= 60);
  CHECK(runs_of(all(7, by, 60), steps) == once);
  for (std::uint64_t const seed : {0U, 1U, 2U, 8U})
    CHECK(runs_of(all(seed, by, 60), steps) != once);
}

TEST_CASE("a walk finds the same paths and outcomes for the same seed, equally often") {
  every_frame_dies const here;
  walk_strategy const by = GENERATE(each_walk());
  auto const walks = [by] {
    return random_walk(all(3, by, 200), no_order, independent({2, 3}), the_order);
  };
  auto const a = walks();
  auto const b = walks();
  REQUIRE(a.outcomes.size() == b.outcomes.size());
  for (std::size_t i = 0; i != a.outcomes.size(); ++i) {
    CHECK(a.outcomes[i].path == b.outcomes[i].path);
    CHECK(a.outcomes[i].result == b.outcomes[i].result);
    CHECK(a.outcomes[i].schedules == b.outcomes[i].schedules);
  }
}

TEST_CASE("each walk visits every schedule of a small program, and never claims to be complete") {
  every_frame_dies const here;
  walk_strategy const by = GENERATE(each_walk());
  auto const found = random_walk(all(1, by, 2'000), no_order, independent({2, 2}), the_order);
  CHECK(found.outcomes.size() == 6);
  CHECK(found.schedules == 2'000);
  CHECK_FALSE(found.complete);
  CHECK(found.ok());
}

TEST_CASE("every path of a walk can be followed, in either granularity") {
  every_frame_dies const here;
  walk_strategy const by = GENERATE(each_walk());
  auto const g = GENERATE(granularity::cooperative, granularity::parallel);
  small_program const p{{small_act::adds_alone, small_act::wakes},
                        {small_act::adds, small_act::waits},
                        {small_act::doubles}};
  auto options = all(1, by, 100);
  options.granularity = g;
  options.max_shrinking_runs = 0;
  auto const found = random_walk(options, make_small_world, running(p), number);
  CHECK(found.outcomes.size() > 1);
  for (auto const& o : found.outcomes) {
    CHECK(o.path.grain() == g);
    auto const again = follow(o.path.text(), make_small_world, running(p), number);
    CHECK_FALSE(again.nondeterminism);
    CHECK(again.outcomes.at(0).result == o.result);
    CHECK(again.outcomes.at(0).preemptions == o.preemptions);
  }
}

/// How often each order of the steps occurs.
std::map<std::string, double> orders(random_walk_options const& options,
                                     std::vector<unsigned> const& steps) {
  every_frame_dies const here;
  auto const found = random_walk(options, no_order, independent(steps), the_order);
  CHECK(found.ok());
  std::map<std::string, double> often;
  for (auto const& o : found.outcomes) often[o.result.text] = static_cast<double>(o.schedules);
  return often;
}

std::vector<std::string> all_orders(std::vector<unsigned> const& steps) {
  std::vector<std::string> all;
  for (auto const& r : every_run(no_order, independent(steps), the_order))
    all.push_back(r.result.text);
  return all;
}
/// The sum of (seen - expected)^2 / expected: close to the number of orders if each occurs as often
/// as expected.
template <class F>
double chi_square(std::map<std::string, double> const& often, std::vector<std::string> const& all,
                  F expected) {
  double sum = 0;
  for (auto const& s : all) {
    auto const it = often.find(s);
    double const off = (it == often.end() ? 0 : it->second) - expected(s);
    sum += off * off / expected(s);
  }
  return sum;
}
/// Five standard deviations above the mean of a sum of `terms` terms.
double too_much(std::size_t terms) {
  auto const free = static_cast<double>(terms - 1);
  return free + 5 * std::sqrt(2 * free);
}

// ---- how likely each schedule is

TEST_CASE("the uniform walk makes a schedule less likely the more choices it has") {
  std::vector<unsigned> const steps{3, 1, 2};
  double const runs = 12'000;
  auto const expected = [&](std::string const& order) {
    double p = runs;
    auto left = steps;
    for (char const c : order) {
      p /= static_cast<double>(std::ranges::count_if(left, [](unsigned n) { return n != 0; }));
      --left[static_cast<std::size_t>(c - 'a')];
    }
    return p;
  };
  auto const orders_there_are = all_orders(steps);
  CHECK(orders_there_are.size() == 60);
  auto const often = orders(all(1, walk_strategy::uniform, 12'000), steps);
  CHECK(chi_square(often, orders_there_are, expected) < too_much(60));
  // Hence they are not equally likely.
  auto const equally = [&](std::string const&) { return runs / 60; };
  CHECK(chi_square(often, orders_there_are, equally) > 10 * too_much(60));
}

TEST_CASE("the weighted walk makes all schedules of independent processes equally likely") {
  auto const steps = GENERATE(std::vector<unsigned>{3, 1, 2}, std::vector<unsigned>{6, 2},
                              std::vector<unsigned>{2, 2, 2});
  auto const orders_there_are = all_orders(steps);
  std::size_t const runs = 200 * orders_there_are.size();
  auto const often = orders(all(1, walk_strategy::weighted, runs), steps);
  CHECK(often.size() == orders_there_are.size());
  CHECK(chi_square(often, orders_there_are, [](std::string const&) { return 200.0; }) <
        too_much(orders_there_are.size()));
}

// ---- priorities

TEST_CASE("pct at depth 1 runs each process to its end, in any order") {
  auto const often = orders(all(1, walk_strategy::pct, 600, 1), {2, 3, 1});
  CHECK(often.size() == 6);
  for (auto const& [order, n] : often) {
    CHECK(n > 50);
    CHECK((order == "aabbbc" || order == "aacbbb" || order == "bbbaac" || order == "bbbcaa" ||
           order == "caabbb" || order == "cbbbaa"));
  }
}

TEST_CASE("pct at depth d makes at most d - 1 preemptions, and reaches that number") {
  every_frame_dies const here;
  std::size_t const depth = GENERATE(1U, 2U, 3U, 4U);
  auto const found = random_walk(all(1, walk_strategy::pct, 2'000, depth), no_order,
                                 independent({3, 3}), the_order);
  std::size_t most = 0;
  for (auto const& o : found.outcomes) most = std::max(most, o.preemptions);
  CHECK(most == depth - 1);
}

/// The share of the runs whose order is `wrong`.
template <class F>
double share(std::map<std::string, double> const& often, F wrong) {
  double all = 0;
  double hits = 0;
  for (auto const& [order, n] : often) {
    all += n;
    if (wrong(order)) hits += n;
  }
  return hits / all;
}
bool is_before(std::string const& order, char x, std::size_t nth_x, char y, std::size_t nth_y) {
  auto const at = [&order](char c, std::size_t nth) {
    std::size_t i = order.find(c);
    for (; nth != 1; --nth) i = order.find(c, i + 1);
    return i;
  };
  return at(x, nth_x) < at(y, nth_y);
}
/// The probability that the paper guarantees, less what chance may take from it in so many runs.
double promised(double processes, double steps, unsigned depth, double runs) {
  double const p = 1 / (processes * std::pow(steps, depth - 1));
  return p - 5 * std::sqrt(p / runs);
}

TEST_CASE("pct at depth 1 finds a failure that takes one order as often as the paper guarantees") {
  auto const runs = 2'000;
  auto const often = orders(all(5, walk_strategy::pct, runs, 1), {4, 4, 4});
  // Beside the three processes, the one that spawns them is a fourth.
  for (auto const& [x, y] : {std::pair('a', 'b'), std::pair('b', 'a'), std::pair('c', 'a')})
    for (std::size_t nth = 1; nth != 5; ++nth) {
      auto const comes_first = [&, one = x, other = y](std::string const& s) {
        return is_before(s, one, nth, other, 1);
      };
      CHECK(share(often, comes_first) >= promised(4, 13, 1, runs));
    }
}

TEST_CASE("pct at depth 2 finds a failure that takes two orders as often as the paper guarantees") {
  auto const runs = 20'000;
  auto const often = orders(all(5, walk_strategy::pct, runs, 2), {4, 4, 4});
  // Another process runs as a whole between two steps of one, wherever these are.
  for (char const one : {'a', 'b', 'c'})
    for (char const other : {'a', 'b', 'c'})
      for (std::size_t nth = 1; nth != 4; ++nth)
        if (one != other)
          CHECK(share(often, [&](std::string const& s) {
                  return is_before(s, one, nth, other, 1) && is_before(s, other, 4, one, nth + 1);
                }) >= promised(4, 13, 2, runs));
  // At depth 1 that never happens.
  CHECK(share(orders(all(5, walk_strategy::pct, 500, 1), {4, 4, 4}), [](std::string const& s) {
          return is_before(s, 'a', 2, 'b', 1) && is_before(s, 'b', 4, 'a', 3);
        }) == 0);
}

TEST_CASE("pct may lower a later process less deeply: at depth 3 the first lowered may end last") {
  auto const often = orders(all(5, walk_strategy::pct, 20'000, 3), {2, 2, 2});
  for (auto const* const order : {"abccba", "abccab", "caabbc", "bccaab"}) {
    INFO(order);
    auto const it = often.find(order);
    double const n = it == often.end() ? 0 : it->second;
    CHECK(n / 20'000 >= promised(4, 7, 3, 20'000));
  }
}

TEST_CASE("a depth of 0 is refused with every strategy") {
  walk_strategy const by = GENERATE(each_walk());
  CHECK_THROWS_AS(random_walk({.by = by, .depth = 0}, no_order, independent({1}), the_order),
                  std::invalid_argument);
}

// ---- portfolio

TEST_CASE("a portfolio alternates between uniform, weighted, and pct at each depth") {
  // Few orders of so many steps have at most two preemptions: in practice only pct finds them.
  std::vector<unsigned> const steps(6, 4);
  auto const in_turn = runs_of(all(2, walk_strategy::portfolio, 100, 3), steps);
  auto const preemptions = [](std::string const& s) {
    std::map<char, int> done;
    int n = 0;
    for (std::size_t i = 0; i + 1 < s.size(); ++i) {
      ++done[s[i]];
      n += s[i] != s[i + 1] && done[s[i]] != 4;
    }
    return n;
  };
  // Each run is a new outcome, so it is run again.
  REQUIRE(in_turn.size() >= 190);
  std::vector<std::string> once;
  for (auto const& s : in_turn)
    if (once.empty() || once.back() != s) once.push_back(s);
  for (std::size_t i = 0; i + 5 <= once.size(); i += 5) {
    INFO("run " << i);
    CHECK(preemptions(once[i]) > 2);
    CHECK(preemptions(once[i + 1]) > 2);
    for (int depth = 1; depth <= 3; ++depth)
      CHECK(preemptions(once[i + 1 + static_cast<std::size_t>(depth)]) < depth);
  }
}

TEST_CASE("a portfolio finds failures that are deep and failures that are common") {
  every_frame_dies const here;
  auto const late = [](std::string const& s) { return s.substr(s.size() - 4) != "aaaa"; };
  auto const found = random_walk({.seed = 1}, no_order, independent({4, 4, 4, 4}), late);
  CHECK(found.failed == 1);
  auto const mixed = [](std::string const& s) { return s.substr(0, 4) != "abcd"; };
  CHECK(random_walk({.seed = 1}, no_order, independent({4, 4, 4, 4}), mixed).failed == 1);
}

// ---- where a walk ends

TEST_CASE("a walk ends at the first failure, or goes on and counts them all") {
  every_frame_dies const here;
  walk_strategy const by = GENERATE(each_walk());
  auto const a_first = [](std::string const& s) { return s.front() != 'a'; };
  auto const first = random_walk({.seed = 9, .by = by}, no_order, independent({2, 2}), a_first);
  CHECK(first.failed == 1);
  CHECK(first.schedules <= 50);
  CHECK_FALSE(first.complete);
  auto const every = random_walk(all(9, by, 500), no_order, independent({2, 2}), a_first);
  CHECK(every.schedules == 500);
  CHECK(every.failed > 100);
  CHECK(every.failed < 400);
  // Both are the same walk.
  CHECK(every.first_failure()->found == first.first_failure()->found);
}

/// After a fork one of the two processes is replayed, and writes again what was written before.
eff<void, proc> forks_twice(std::string& s) {
  bool const a = co_await proc::fork{};
  s += a ? 'a' : 'b';
  bool const second = co_await proc::fork{};
  s += second ? 'c' : 'd';
}

TEST_CASE("processes that begin later take part in every walk") {
  every_frame_dies const here;
  walk_strategy const by =
      GENERATE(walk_strategy::uniform, walk_strategy::weighted, walk_strategy::portfolio);
  auto const brute = explore(no_order, forks_twice, the_order);
  CHECK(brute.schedules == 80);  // 7 steps: 7! / (7 * 3 * 3)
  auto const found = random_walk(all(4, by, 3'000), no_order, forks_twice, the_order);
  CHECK(found.ok());
  CHECK(found.outcomes.size() == brute.outcomes.size());
}
