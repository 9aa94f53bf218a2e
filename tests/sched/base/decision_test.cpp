// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Decisions: the choices that handlers leave to an explorer of schedules.

/// Asks for one of `n` ways.
struct fate {
  struct which : op<std::size_t> {
    explicit which(std::size_t n) noexcept : of(n) {}
    std::size_t of;
  };
  using operations = op_list<which>;
};
struct decides {
  std::size_t on(fate::which w) { return decide(w.of); }
};

using said = std::string;
said nothing_said() { return ""; }
said as_said(said const& s) { return s; }
decides by_explorer(said&) { return {}; }

eff<void, fate> asks(said& s, std::vector<std::size_t> ways) {
  for (std::size_t const n : ways) {
    std::size_t const i = co_await fate::which(n);
    s += std::to_string(i);
  }
}
auto one_who_asks(std::vector<std::size_t> ways) {
  return [ways = std::move(ways)](said& s) { return asks(s, ways); };
}

TEST_CASE(
    "a process that decides among n1, n2, ... has n1 n2 ... schedules, and no two are alike") {
  weft::tests::every_frame_dies const here;
  for (auto const& ways : std::vector<std::vector<std::size_t>>{
           {1}, {2}, {3, 2}, {1, 4, 1}, {2, 2, 2, 2}, {5, 1, 3}}) {
    std::size_t product = 1;
    for (auto const n : ways) product *= n;
    auto const found = explore(nothing_said, one_who_asks(ways), as_said, by_explorer);
    CHECK(found.ok());
    CHECK(found.complete);
    CHECK(found.schedules == product);
    REQUIRE(found.outcomes.size() == product);
    auto const text = [](exploration::outcome const& o) { return o.result.text; };
    CHECK(std::ranges::is_sorted(found.outcomes, std::ranges::less(), text));  // 0 comes first
    auto const reduced =
        explore({.reduce = true}, nothing_said, one_who_asks(ways), as_said, by_explorer);
    CHECK(reduced.schedules == product);
    CHECK(reduced.outcomes.size() == product);
  }
}

TEST_CASE("the number of ways of a decision may depend on the decisions before it") {
  weft::tests::every_frame_dies const here;
  auto const asks_on = [](said& s) -> eff<void, fate> {
    std::size_t more = co_await fate::which(4);
    s += std::to_string(more);
    while (more-- != 0) {
      std::size_t const i = co_await fate::which(2);
      s += std::to_string(i);
    }
  };
  CHECK(explore(nothing_said, asks_on, as_said, by_explorer).schedules == 1 + 2 + 4 + 8);
}

TEST_CASE("a decision among no ways throws invalid_argument") {
  CHECK_THROWS_AS(decide(0), std::invalid_argument);
  CHECK_THROWS_AS(decide(std::span<std::string_view const>()), std::invalid_argument);
}

TEST_CASE("decide() returns 0 where no schedules are explored, and outside of a step") {
  weft::tests::every_frame_dies const here;
  CHECK(decide(7) == 0);
  said s;
  schedule([&s] { return asks(s, {3, 2}); }, decides());
  CHECK(s == "00");

  struct nosy {
    std::size_t made = decide(3);
    std::size_t on(fate::which w) { return decide(w.of); }
  };
  auto const found = explore([] { return std::to_string(decide(2)); }, one_who_asks({2}),
                             [](said const& all) { return all + std::to_string(decide(2)); },
                             [](said& all) {
                               nosy n;
                               all += std::to_string(n.made);
                               return n;
                             });
  CHECK(found.schedules == 2);
  REQUIRE(found.outcomes.size() == 2);
  CHECK(found.outcomes[0].result.text == "0000");
  CHECK(found.outcomes[1].result.text == "0010");
}

// ---- several processes

eff<void, fate, proc> asks_and_yields(said& s, char name, std::size_t ways) {
  s += name;
  std::size_t const i = co_await fate::which(ways);
  s += std::to_string(i);
  co_await proc::yield{};
  s += name;
}
eff<void, spawning<fate, proc>> two_ask(said& s) {
  co_await spawn(asks_and_yields, std::ref(s), 'a', 2);
  co_await spawn(asks_and_yields, std::ref(s), 'b', 3);
}

TEST_CASE("the numbers of decisions and of orders multiply") {
  weft::tests::every_frame_dies const here;
  auto const found = explore(nothing_said, two_ask, as_said, by_explorer);
  CHECK(found.schedules == 6 * 2 * 3);
  CHECK(found.outcomes.size() == 6 * 2 * 3);
}

TEST_CASE("a decision does not count as a preemption") {
  weft::tests::every_frame_dies const here;
  auto const none = explore({.max_preemptions = 0}, nothing_said, two_ask, as_said, by_explorer);
  CHECK(none.schedules == 2 * 2 * 3);
  CHECK_FALSE(none.complete);
  auto const all = explore({.max_preemptions = 5}, nothing_said, two_ask, as_said, by_explorer);
  CHECK(all.schedules == 6 * 2 * 3);
  CHECK(all.complete);
}

TEST_CASE("a decision before a fork holds for both processes") {
  weft::tests::every_frame_dies const here;
  auto const decides_and_forks = [](std::unique_ptr<std::set<said>>& all) -> eff<void, fate, proc> {
    std::size_t const i = co_await fate::which(3);
    bool const first = co_await proc::fork{};
    all->insert(std::to_string(i) + (first ? "a" : "b"));
  };
  auto const found = explore([] { return std::make_unique<std::set<said>>(); }, decides_and_forks,
                             [](std::unique_ptr<std::set<said>> const& all) {
                               said s;
                               for (auto const& one : *all) s += one;
                               return s;
                             },
                             [](std::unique_ptr<std::set<said>>&) { return decides(); });
  CHECK(found.ok());
  CHECK(found.schedules == 3 * 2);
  CHECK(found.outcomes.size() == 3);
  // The same i for both processes.
  for (auto const& o : found.outcomes) CHECK(o.result.text.size() == 4);
}

TEST_CASE("a schedule with decisions can be followed, and its trace names the decisions") {
  weft::tests::every_frame_dies const here;
  for (auto const& o : explore(nothing_said, two_ask, as_said, by_explorer).outcomes) {
    auto const again = follow(o.path.text(), nothing_said, two_ask, as_said, by_explorer);
    CHECK_FALSE(again.nondeterminism);
    REQUIRE(again.outcomes.size() == 1);
    CHECK(again.outcomes[0].result == o.result);
    CHECK(again.outcomes[0].decisions == o.decisions);
    std::size_t told = 0;
    for (auto const& step : o.trace)
      for (auto const& d : step.decisions) told += d.taken != 0;
    CHECK(told == o.decisions);
  }
}

constexpr std::array<std::string_view, 3> weathers{"sun", "rain", "hail"};
struct weather {
  std::size_t on(fate::which) { return decide(weathers); }
};
weather as_it_comes(said&) { return {}; }

TEST_CASE("a report names each decision, unless the usual way was taken") {
  weft::tests::every_frame_dies const here;
  auto const no_hail_after_rain = [](said const& s) { return s != "012"; };
  auto const named =
      explore(nothing_said, one_who_asks({3, 3, 3}), no_hail_after_rain, as_it_comes);
  REQUIRE(named.first_failure());
  CHECK(named.first_failure()->decisions == 2);
  CHECK_THAT(named.report(),
             Contains("0 preemptions (!), 0 other switches (>), 2 decisions (decided)\n"
                      "  1: begins; decided: rain and hail\n"));
  auto const numbered =
      explore(nothing_said, one_who_asks({3, 3, 3}), no_hail_after_rain, by_explorer);
  CHECK_THAT(numbered.report(), Contains("  1: begins; decided: 1 and 2\n"));
  auto const usual =
      explore(nothing_said, one_who_asks({2}), [](said const& s) { return s != "0"; }, by_explorer);
  CHECK_THAT(usual.report(), Contains("0 other switches (>)\n  1: begins\n"));
}

// ---- paths and handlers that do not fit

TEST_CASE("a path that does not fit the decisions of a program is refused, with the step") {
  weft::tests::every_frame_dies const here;
  auto const follows = [](std::vector<unsigned> const& choices) {
    schedule_path p;
    for (unsigned const c : choices) p.add(c);
    return follow(p.text(), nothing_said, one_who_asks({2, 3}), as_said, by_explorer);
  };
  CHECK_FALSE(follows({1, 2}).nondeterminism);
  CHECK(follows({1, 2}).outcomes.at(0).result.text == "12");
  CHECK_THAT(
      follows({1}).what_differed,
      Contains("the path ends after 1 choices, and in step 1, one of 3 ways is to be chosen"));
  CHECK_THAT(
      follows({1, 3}).what_differed,
      Contains("choice 2 of the path, in step 1, is way 3, and there are 3, counted from 0"));
  CHECK_THAT(follows({1, 2, 0}).what_differed, Contains("the program was over after 2"));
}

TEST_CASE("an exploration reports a handler that offers another number of ways the next time") {
  weft::tests::every_frame_dies const here;
  struct fickle {
    int* runs;
    std::size_t on(fate::which w) { return decide(w.of + (*runs == 3 ? 1 : 0)); }
  };
  auto const all_the_same = [](said const&) {};
  for (bool const reduce : {false, true}) {
    int runs = 0;
    auto const found =
        explore({.reduce = reduce}, nothing_said, one_who_asks({3}), all_the_same, [&runs](said&) {
          ++runs;
          return fickle{&runs};
        });
    CHECK(found.nondeterminism);
    CHECK(found.what_differed ==
          "at step 1, after the same choices, one of 4 ways can be chosen, and before one of 3 "
          "ways could");
  }
  int runs = 1;
  auto const again = explore(nothing_said, one_who_asks({3}), as_said, [&runs](said&) {
    ++runs;
    return fickle{&runs};
  });
  CHECK(again.what_differed ==
        "at step 1 of the same schedule, run twice, one of 3 ways can be chosen, and then one of 4 "
        "ways");
}

// ---- random walks and shrinking

TEST_CASE("a random walk decides at random, and repeats its decisions with the same seed") {
  weft::tests::every_frame_dies const here;
  for (walk_strategy const by : {walk_strategy::uniform, walk_strategy::weighted,
                                 walk_strategy::pct, walk_strategy::portfolio}) {
    auto const walks = [by](std::uint64_t seed) {
      auto const found = random_walk({.seed = seed, .by = by, .max_schedules = 200}, nothing_said,
                                     one_who_asks({2, 3, 4}), as_said, by_explorer);
      std::vector<said> all;
      for (auto const& o : found.outcomes) all.push_back(o.result.text);
      return all;
    };
    CHECK(walks(1).size() == 24);
    CHECK(walks(1) == walks(1));
    CHECK(walks(1) != walks(2));
  }
}

TEST_CASE(
    "a shrunk schedule has as few decisions as possible, and then as small ones as possible") {
  weft::tests::every_frame_dies const here;
  // The schedule is wrong if two decisions are not 0, and the last but one is 2 or more.
  auto const is_right = [](said const& s) {
    return std::ranges::count(s, '0') > 3 || s.at(3) < '2';
  };
  auto const program = one_who_asks({4, 4, 4, 4, 4});
  schedule_path from;
  for (unsigned const c : {3U, 2U, 1U, 3U, 2U}) from.add(c);
  for (std::size_t const runs : {30U, 10'000U}) {
    auto const found = shrink(from.text(), runs, nothing_said, program, is_right, by_explorer);
    REQUIRE(found.outcomes.size() == 1);
    auto const& o = found.outcomes[0];
    CHECK(o.result.verdict == verdict::failed);
    CHECK(o.decisions == 2);
    std::size_t sum = 0;
    for (auto const& d : o.trace.at(0).decisions) sum += d.taken;
    CHECK(sum == 3);
  }
}

TEST_CASE("shrinking prefers fewer decisions to fewer preemptions") {
  weft::tests::every_frame_dies const here;
  // The schedule is wrong if b comes in between, or if a decided 1.
  auto const is_right = [](said const& s) { return s.find("a1") == s.npos && !s.ends_with("b"); };
  auto const a_first = [](said const& s) { return s.starts_with("a"); };
  auto const check = [=](said const& s) { return is_right(s) || !a_first(s); };
  for (auto const& o :
       explore({.max_shrinking_runs = 0}, nothing_said, two_ask, check, by_explorer).outcomes) {
    if (!o.is_wrong()) continue;
    auto const small =
        shrink(o.path.text(), 10'000, nothing_said, two_ask, check, by_explorer).outcomes.at(0);
    CHECK(small.decisions == 0);
    CHECK(small.preemptions == 0);
  }
}

// ---- a reduced search against a full one

enum class deed { yields, reads, writes, decides, decides_and_writes, spends, count };
using lives = std::vector<std::vector<deed>>;

/// A purse to decide from: how much is left says which ways there are.
struct purse {
  int left = 2;
};
struct spending {
  struct some : op<std::size_t> {};
  using operations = op_list<some>;
};

struct town {
  explicit town(lives const& l) : all(l), seen(l.size()) {}
  town(town const&) = delete;
  town& operator=(town const&) = delete;
  lives const& all;
  std::array<shared<int>, 2> cells;
  purse money;
  std::vector<said> seen;  // an entry for each process, written by it alone
};

struct fates_of_town {
  static constexpr bool reports_accesses = true;  // it touches nothing
  town* of;
  std::size_t on(fate::which w) { return decide(w.of); }
};
struct spends_of_town {
  static constexpr bool reports_accesses = true;  // its callers say what they touch
  town* of;
  std::size_t on(spending::some) {
    purse& p = of->money;
    std::size_t const n = p.left == 0 ? 0 : decide(2);
    p.left -= static_cast<int>(n);
    return n;
  }
};

using living = eff<void, fate, spending, proc, syncing>;
living lives_on(town& t, std::size_t who) {
  said& seen = t.seen[who];
  int n = static_cast<int>(who) * 10;
  for (deed const d : t.all[who]) {
    ++n;
    auto& cell = t.cells[static_cast<std::size_t>(n) % 2];
    if (d == deed::yields) {
      co_await proc::yield{};
    } else if (d == deed::reads) {
      int const there = co_await cell.get();
      seen += 'r' + std::to_string(there);
    } else if (d == deed::writes) {
      co_await cell.set(n);
    } else if (d == deed::decides) {
      std::size_t const i = co_await fate::which(3);
      seen += 'd' + std::to_string(i);
    } else if (d == deed::decides_and_writes) {
      std::size_t const i = co_await fate::which(2);
      seen += 'w' + std::to_string(i);
      // One way touches the cell, and the other does not.
      if (i == who % 2) co_await cell.set(-n);
    } else {
      co_await syncing::touch(&t.money, true);
      std::size_t const i = co_await spending::some{};
      seen += 's' + std::to_string(i);
    }
  }
}
eff<void, spawning<fate, spending, proc, syncing>> all_live(town& t) {
  for (std::size_t who = 0; who != t.all.size(); ++who) co_await spawn(lives_on, std::ref(t), who);
}

exploration of_town(lives const& l, granularity g, bool reduce) {
  return explore(
      {.max_schedules = 20'000,
       .granularity = g,
       .reduce = reduce,
       .max_shrinking_runs = 0,
       .progress = progress::never},
      [&l] { return std::make_unique<town>(l); },
      [](std::unique_ptr<town>& t) { return all_live(*t); },
      [](std::unique_ptr<town> const& t) {
        said s;
        for (auto const& one : t->seen) s += one + ' ';
        return s;
      },
      [](std::unique_ptr<town>& t) { return fates_of_town{t.get()}; },
      [](std::unique_ptr<town>& t) { return spends_of_town{t.get()}; });
}
std::set<said> ends(exploration const& e) {
  std::set<said> all;
  for (auto const& o : e.outcomes) all.insert(o.result.text);
  return all;
}

TEST_CASE("a sleeping process is woken by an access that one of its ways would conflict with") {
  weft::tests::every_frame_dies const here;
  lives const l{{deed::decides_and_writes}, {deed::reads}};  // it touches if it decides 0
  auto const reduced = of_town(l, granularity::cooperative, true);
  CHECK(ends(reduced) == std::set<said>{"w0 r-1 ", "w0 r0 ", "w1 r0 "});
}

using weft::tests::dice;
using weft::tests::seeds;

TEST_CASE("a reduced search finds the same ends where processes decide, in fewer schedules") {
  weft::tests::every_frame_dies const here;
  std::size_t full = 0;
  std::size_t fewer = 0;
  std::size_t compared = 0;
  std::size_t tried = 0;
  seeds(40).for_each([&](unsigned seed) {
    INFO("seed " << seed);
    ++tried;
    dice random(seed);
    lives l(2 + random(2));
    for (auto& one : l)
      for (unsigned left = 1 + random(l.size() == 2 ? 4 : 2); left != 0; --left)
        one.push_back(static_cast<deed>(random(static_cast<unsigned>(deed::count))));
    auto const g = random(2) == 0 ? granularity::cooperative : granularity::parallel;
    auto const all = of_town(l, g, false);
    if (!all.complete) return;
    auto const reduced = of_town(l, g, true);
    CHECK(reduced.complete);
    CHECK_FALSE(reduced.nondeterminism);
    CHECK(ends(reduced) == ends(all));
    CHECK(reduced.schedules <= all.schedules);
    ++compared;
    full += all.schedules;
    fewer += reduced.schedules;
  });
  if (seeds(0).only_some()) return;
  CHECK(compared * 3 > tried * 2);
  CHECK(fewer * 2 < full);
}
