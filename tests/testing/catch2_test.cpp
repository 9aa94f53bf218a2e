// SPDX-License-Identifier: MIT
#include "weft/testing/catch2.hpp"

#include "tests/prelude.hpp"
#include "tests/support/catch2_listener.hpp"

using tests::catch2_listener;
using process = eff<void, proc>;
using parent = eff<void, spawning<proc>>;
int zero() { return 0; }

/// In one step, so no update is lost.
process adds(int& n) {
  ++n;
  co_return;
}
parent adds_twice(int& n) {
  co_await spawn(adds, std::ref(n));
  co_await spawn(adds, std::ref(n));
}

TEST_CASE(
    "a program that is right in all schedules is one passing assertion, at the place of the call") {
  tests::every_frame_dies const here;
  std::source_location where;
  auto const [said, found] = catch2_listener::hears([&where] {
    // On one line, since the assertion is reported at the line of the call.
    // clang-format off
    where = std::source_location::current(); auto all = check_every_schedule(zero, adds_twice, [](int& n) { CHECK(n == 2); });
    // clang-format on
    return exploration(all);
  });
  CHECK(found.schedules == 2);
  CHECK(found.ok());
  REQUIRE(said.assertions.size() == 1);
  auto const& a = said.assertions.front();
  CHECK(a.passed);
  CHECK(a.macro == "check_every_schedule");
  CHECK(a.file == where.file_name());
  CHECK(a.line == where.line());
  CHECK(a.text ==
        "complete: no failure in any of the 2 schedules of one thread; those of several threads "
        "were not tried\n"
        "2 schedules, 0 failed, 0 deadlocks");
}

bool always(int const&) { return true; }

process increment(int& n) {
  int const seen = n;
  co_await proc::yield{};
  n = seen + 1;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

process requires_two(int& n) {
  co_await increment(n);
  REQUIRE(n == 2);
}

template <auto F, auto... Arguments>
parent two_of(int& n) {
  co_await spawn(F, std::ref(n), Arguments...);
  co_await spawn(F, std::ref(n), Arguments...);
}

TEST_CASE("a REQUIRE that fails in a process fails the schedule and is its text") {
  tests::every_frame_dies const here;
  auto const [said, found] = catch2_listener::hears(
      [] { return exploration(check_every_schedule(zero, two_of<requires_two>, always)); });
  CHECK(found.failed == found.schedules);
  REQUIRE(said.assertions.size() == 1);
  CHECK_FALSE(said.assertions.front().passed);
  auto const& text = said.assertions.front().text;
  CHECK(has(text, "the first failure: REQUIRE( n == 2 ) at tests/testing/catch2_test.cpp:"));
  CHECK(has(text, "\n  with expansion: 1 == 2\n0 preemptions (!)"));
  CHECK(has(text, "\n> 1.1 (requires_two): spawned at tests/testing/catch2_test.cpp:"));
  CHECK(text.ends_with("to see it again:\ncheck_schedule(\"" + found.first_failure()->path.text() +
                       "\", ...)"));
}

process checks_that_it_sees(int& n, int what) {
  co_await proc::yield{};
  CHECK(n == what);
  n = what + 1;
}

parent one_sees_zero(int& n) {
  co_await spawn(checks_that_it_sees, std::ref(n), 0);
  co_await spawn(adds, std::ref(n));
}

TEST_CASE("a CHECK that fails in a process fails the schedule, although the process goes on") {
  tests::every_frame_dies const here;
  auto const [said, found] = catch2_listener::hears([] {
    return exploration(check_every_schedule(zero, one_sees_zero, [](int& n) {
      CHECK(n != 0);  // the process went on
    }));
  });
  CHECK(found.schedules == 3);
  CHECK(found.failed == 2);
  REQUIRE(found.first_failure());
  CHECK(has(found.first_failure()->result.text, "CHECK( n == what )"));
  CHECK(has(found.first_failure()->result.text, "\n  with expansion: 1 == 0"));
  REQUIRE(said.assertions.size() == 1);
  CHECK_FALSE(said.assertions.front().passed);
}

parent two_increments(int& n) {
  co_await spawn(increment, std::ref(n));
  co_await spawn(increment, std::ref(n));
}

/// Does nothing, so that only the check can fail.
parent nothing(int&) { co_return; }

process throws_if_second(int& n) {
  if (n++ == 1) throw std::runtime_error("second");
  co_await proc::yield{};
}

TEST_CASE(
    "an exception, a false check and an assertion that fails in the check fail the schedule") {
  tests::every_frame_dies const here;
  auto const [said, found] = catch2_listener::hears([] {
    std::vector<exploration> all;
    all.push_back(check_every_schedule(zero, two_of<throws_if_second>, always));
    all.push_back(check_every_schedule(zero, two_increments, [](int& n) { return n == 2; }));
    all.push_back(check_every_schedule(zero, two_increments, [](int& n) { REQUIRE(n == 2); }));
    all.push_back(check_every_schedule(
        [] {
          FAIL("no state");
          return 0;
        },
        nothing, always));
    return all;
  });
  REQUIRE(said.assertions.size() == 4);
  auto const& a = said.assertions;
  CHECK(has(a[0].text, "the first failure: second\n"));
  CHECK(
      has(a[1].text, "6 schedules, 4 failed, 0 deadlocks\nthe first failure: the check failed\n"));
  CHECK(has(a[2].text, "the first failure: REQUIRE( n == 2 ) at "));
  CHECK(has(a[2].text, "with expansion: 1 == 2"));
  CHECK(has(a[3].text, "the first failure: FAIL at "));
  CHECK(has(a[3].text, "with message: no state"));
  for (auto const& one : a) CHECK_FALSE(one.passed);
}

process steps(int n) {
  for (int i = 1; i < n; ++i) co_await proc::yield{};
}

struct two_gates {
  gate left, right;
};
eff<void, syncing> wakes_after_waiting(gate& mine, gate& others) {
  co_await syncing::wait{mine};
  co_await syncing::wake{others};
}
eff<void, spawning<syncing>> crosswise(two_gates& g) {
  co_await spawn(wakes_after_waiting, std::ref(g.left), std::ref(g.right));
  co_await spawn(wakes_after_waiting, std::ref(g.right), std::ref(g.left));
}

int calls = 0;
parent another_each_time(int&) {
  int const n = ++calls % 3;
  for (int i = 0; i != n; ++i) co_await spawn(steps, 2);
}

TEST_CASE("a deadlock, nondeterminism and a leak are one failed assertion each") {
  std::vector<resumption<void>> kept;  // outlives the run
  struct keeper : region {
    std::vector<resumption<void>>* kept = nullptr;
    void on(proc::yield, resumption<void> k) { kept->push_back(std::move(k)); }
    void on(proc::fork, resumption<bool>) {}
    void on(proc::exit, resumption<never>) {}
  } h;
  h.kept = &kept;
  auto const keeps = [&h](int&) -> eff<void, proc> {
    co_await handle<proc>(h, []() -> eff<void, proc> {
      int const n = 7;
      CAPTURE(n);  // is destroyed after the exploration has ended
      co_await proc::yield{};
    });
  };
  auto const said =
      catch2_listener::hears([&] {
        check_every_schedule([] { return two_gates(); }, crosswise, [](two_gates&) {});
        check_every_schedule(zero, another_each_time, always);
        check_every_schedule(zero, keeps, always);
        return 0;
      }).first;
  REQUIRE(said.assertions.size() == 3);
  for (auto const& a : said.assertions) CHECK_FALSE(a.passed);
  CHECK(has(said.assertions[0].text, "0 failed, 2 deadlocks"));
  CHECK(has(said.assertions[0].text,
            "process 1.1 (wakes_after_waiting #1) in weft::syncing::wait at "));
  CHECK(has(said.assertions[1].text, "\nnondeterminism: at step "));
  CHECK(has(said.assertions[2].text, "\nleak: "));
}

TEST_CASE("an expansion that differs in each run is nondeterminism") {
  int runs = 0;
  auto const said = catch2_listener::hears([&runs] {
                      check_every_schedule(zero, nothing, [&runs](int&) { CHECK(++runs == 0); });
                      return 0;
                    }).first;
  REQUIRE(said.assertions.size() == 1);
  CHECK(has(said.assertions[0].text, "run again, ends differently: \"CHECK( ++runs == 0 )"));
}

process says_and_checks(int& n, std::string who, bool is_right) {
  INFO("it is " << who);
  int const seen = n++;
  {
    INFO("gone when it counts");
    co_await proc::yield{};
  }
  CAPTURE(seen, who.size());
  UNSCOPED_INFO("for one assertion");
  CHECK(seen < 2);
  co_await proc::yield{};
  CHECK((is_right || seen > 2));
}
parent ann_and_ben(int& n) {
  co_await spawn(says_and_checks, std::ref(n), "ann", true);
  co_await spawn(says_and_checks, std::ref(n), "ben", false);
}

TEST_CASE("a message belongs to the assertions of the process that says it") {
  tests::every_frame_dies const here;
  INFO("outside");
  auto const [said, found] = catch2_listener::hears([] {
    return exploration(check_every_schedule(zero, ann_and_ben, [](int& n) {
      INFO("at the end");
      CHECK(n == 2);
    }));
  });
  CHECK(found.failed == found.schedules);
  REQUIRE(found.outcomes.size() == 2);  // ben saw 0, or 1
  for (auto const& o : found.outcomes) {
    auto const& text = o.result.text;
    CHECK(has(text, "CHECK( (is_right || seen > 2) )"));
    CHECK(has(text, "with message: it is ben\n  with message: seen := "));
    CHECK(has(text, "\n  with message: who.size() := 3"));
    CHECK_FALSE(has(text, "ann"));
    CHECK_FALSE(has(text, "gone"));
    CHECK_FALSE(has(text, "for one assertion"));
    CHECK_FALSE(has(text, "outside"));
    CHECK_FALSE(has(text, "at the end"));
  }
  // The listener was told of none of these assertions.
  CHECK(said.others == 0);
  CHECK(said.assertions.size() == 1);
}

TEST_CASE("a message outside all processes belongs to the assertions there") {
  auto const found = catch2_listener::hears([] {
                       return exploration(check_every_schedule(zero, ann_and_ben, [](int& n) {
                         INFO("at the end");
                         UNSCOPED_INFO("once");
                         CHECK(n != 2);
                       }));
                     }).second;
  // The failure of ben arises before that of the check, so it is the text.
  CHECK(has(found.outcomes.at(0).result.text, "it is ben"));
  auto const right = catch2_listener::hears([] {
                       return exploration(check_every_schedule(zero, adds_twice, [](int& n) {
                         INFO("at the end");
                         UNSCOPED_INFO("once");
                         CHECK(n != 2);
                         CHECK(n != 2);
                       }));
                     }).second;
  REQUIRE(right.outcomes.size() == 1);
  CHECK(right.outcomes[0].result.text.ends_with(
      "\n  with expansion: 2 != 2\n  with message: at the end\n  with message: once"));
}

/// Becomes four processes.
process says_it_and_forks(int& n, int wrong) {
  INFO("said first");
  bool const first = co_await proc::fork{};
  INFO("then " << (first ? "parent" : "child"));
  bool const second = co_await proc::fork{};
  INFO("at last " << (second ? "parent" : "child"));
  CHECK(++n != wrong);
}
std::size_t times(std::string_view part, std::string_view text) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_CASE(
    "each of the two processes after a fork has all messages once, also the one that is replayed") {
  tests::every_frame_dies const here;
  int const wrong = GENERATE(1, 2, 3, 4);
  auto const found = catch2_listener::hears([wrong] {
                       return exploration(check_every_schedule(
                           zero, [wrong](int& n) { return says_it_and_forks(n, wrong); }, always));
                     }).second;
  CHECK(found.failed == found.schedules);
  REQUIRE(found.outcomes.size() == 4);
  for (auto const& o : found.outcomes) {
    CHECK(times("with message: said first", o.result.text) == 1);
    CHECK(times("with message: then ", o.result.text) == 1);
    CHECK(times("with message: at last ", o.result.text) == 1);
  }
}

int throws_an_int() { throw 1; }
int throws_nothing() { return 1; }
void throws_seven() { throw std::runtime_error("seven"); }

/// The text of the assertion that fails in `check`; empty if none does.
template <class F>
std::string said_by(F check) {
  auto const found =
      catch2_listener::hears([&check] {
        return exploration(check_every_schedule(zero, nothing, [&check](int&) { check(); }));
      }).second;
  auto const* const o = found.first_failure();
  if (!o) return {};
  auto const& text = o->result.text;  // without its place
  auto const at = text.find(" at ");
  return text.substr(0, at) + text.substr(std::min(text.find('\n', at), text.size()));
}

TEST_CASE("each kind of assertion passes and fails in a check as it does outside of one") {
  int const one = 1;
  CHECK(said_by([&] { CHECK_FALSE(one == 1); }) ==
        "CHECK_FALSE( one == 1 )\n  with expansion: !(1 == 1)");
  CHECK(said_by([&] { CHECK_FALSE(one); }) == "CHECK_FALSE( one )\n  with expansion: !1");
  CHECK(said_by([&] { REQUIRE_FALSE(one == 2); }).empty());
  CHECK(said_by([] { CHECK(throws_an_int() == 1); }) ==
        "CHECK( throws_an_int() == 1 )\n  due to an exception: Unknown exception");
  CHECK(
      said_by([] { CHECK_THROWS(throws_nothing()); }) ==
      "CHECK_THROWS( throws_nothing() )\n  because no exception was thrown where one was expected");
  CHECK(said_by([] { CHECK_THROWS_AS(throws_an_int(), int); }).empty());
  CHECK(said_by([] { CHECK_THROWS_WITH(throws_seven(), "eight"); }) ==
        "CHECK_THROWS_WITH( throws_seven(), \"eight\" )\n  with expansion: \"seven\" equals: "
        "\"eight\"");
  CHECK(said_by([] { CHECK_NOTHROW(throws_seven()); }) ==
        "CHECK_NOTHROW( throws_seven() )\n  due to an exception: seven");
  CHECK(said_by([] { REQUIRE_NOTHROW(throws_nothing()); }).empty());
  CHECK(said_by([] { CHECK_THAT("abc", Catch::Contains("d")); }) ==
        "CHECK_THAT( \"abc\", Catch::Contains(\"d\") )\n  with expansion: \"abc\" contains: \"d\"");
  CHECK(said_by([] { FAIL_CHECK("no\nway"); }) == "FAIL_CHECK\n  with message: no\n    way");
  CHECK(said_by([&] { CHECK_NOFAIL(one == 2); }).empty());
  CHECK(said_by([] {
          SUCCEED("fine");
          WARN("hardly");
        }).empty());
  CHECK(said_by([&] {
          bool was_there = false;
          CHECKED_IF(one == 1) { was_there = true; }
          CHECKED_ELSE(one == 1) { was_there = false; }
          if (!was_there) FAIL("not there");
        }).empty());
  CHECK(said_by([&] {
          CHECK(one == 2);
          CHECK(one == 3);
          throw std::runtime_error("and more");
        }) == "CHECK( one == 2 )\n  with expansion: 1 == 2");
}

TEST_CASE("a schedule has failed also if the program catches what REQUIRE throws") {
  CHECK(said_by([] {
          try {
            REQUIRE(throws_nothing() == 2);
          } catch (...) {
          }
        }) == "REQUIRE( throws_nothing() == 2 )\n  with expansion: 1 == 2");
}

TEST_CASE("a section and a generator inside a program are refused by name") {
  CHECK(said_by([] {
          SECTION("mine") { FAIL("is not reached"); }
        }).starts_with("weft: SECTION(\"mine\")"));
  CHECK(said_by([] {
          try {
            (void)GENERATE(1, 2);
          } catch (std::logic_error const&) {
          }
        }).starts_with("weft: GENERATE"));
}

TEST_CASE("sections and generators around a search work as usual") {
  int const n = GENERATE(1, 2, 3);
  SECTION("all") {
    auto const found = check_every_schedule(zero, [n](int&) { return steps(n); }, always);
    CHECK(found.schedules == 1);
  }
  SECTION("some") {
    auto const found = check_random_schedules({.seed = 3, .max_schedules = 4}, zero, adds_twice,
                                              [](int& sum) { REQUIRE(sum == 2); });
    CHECK(found.schedules == 4);
  }
}

process yields_for_ever() {
  for (;;) co_await proc::yield{};
}
parent one_for_ever(int&) {
  co_await spawn(steps, 2);
  co_await spawn(yields_for_ever);
}
process for_ever_if_second(int& n) {
  if (n++ == 1) co_await yields_for_ever();
}
parent perhaps_for_ever(int& n) {
  co_await spawn(adds, std::ref(n));
  co_await spawn(for_ever_if_second, std::ref(n));
}

TEST_CASE(
    "schedules that are cut fail a search, unless a limit was chosen and some schedule ended") {
  auto const [said, found] = catch2_listener::hears([] {
    check_every_schedule({.max_schedules = 5, .max_steps = 20}, zero, one_for_ever, always);
    check_every_schedule({.max_steps = 20}, zero, perhaps_for_ever, always);
    return exploration(check_every_schedule(zero, perhaps_for_ever, always));
  });
  CHECK(found.schedules == 2);
  CHECK(found.cut == 1);
  REQUIRE(said.assertions.size() == 3);
  CHECK_FALSE(said.assertions[0].passed);
  CHECK(said.assertions[0].text.ends_with("\nno schedule was run to its end"));
  CHECK(said.assertions[1].passed);
  CHECK_FALSE(said.assertions[2].passed);
  CHECK(has(said.assertions[2].text, "\nnot every schedule was run to its end"));
}

TEST_CASE("a search that stops at a chosen limit passes, and one that visits no schedule fails") {
  auto const said = catch2_listener::hears([] {
                      check_every_schedule({.max_schedules = 2}, zero, two_increments, always);
                      check_every_schedule({.max_preemptions = 0}, zero, two_increments, always);
                      check_every_schedule({.max_schedules = 0}, zero, two_increments, always);
                      return 0;
                    }).first;
  REQUIRE(said.assertions.size() == 3);
  CHECK(said.assertions[0].passed);
  CHECK(said.assertions[1].passed);
  CHECK_FALSE(said.assertions[2].passed);
}

TEST_CASE("the path of a report leads to the same assertion") {
  tests::every_frame_dies const here;
  auto const mode = GENERATE(granularity::cooperative, granularity::parallel);
  auto const [said, again] = catch2_listener::hears([mode] {
    auto const is_two = [](int& n) { CHECK(n == 2); };
    auto const found = check_random_schedules({.granularity = mode}, zero, two_increments, is_two);
    return exploration(
        check_schedule(found.first_failure()->path.text(), zero, two_increments, is_two));
  });
  REQUIRE(said.assertions.size() == 2);
  CHECK(said.assertions[0].macro == "check_random_schedules");
  CHECK(said.assertions[1].macro == "check_schedule");
  CHECK_FALSE(said.assertions[0].passed);
  CHECK_FALSE(said.assertions[1].passed);
  CHECK(again.failed == 1);
  auto const story = [](std::string const& s) { return s.substr(s.find("the first failure")); };
  CHECK(story(said.assertions[0].text) == story(said.assertions[1].text));
}

TEST_CASE("a path of another program fails the assertion, and a text that is no path throws") {
  schedule_path seven;
  seven.add(7);
  auto const said = catch2_listener::hears([&seven] {
                      check_schedule(seven.text(), zero, two_increments, always);
                      return 0;
                    }).first;
  REQUIRE(said.assertions.size() == 1);
  CHECK_FALSE(said.assertions[0].passed);
  CHECK(has(said.assertions[0].text, "the path is not one of this program"));
  CHECK_THROWS_AS(check_schedule("1c:0:0000", zero, two_increments, always), std::invalid_argument);
}

TEST_CASE("a long path is written as several adjacent strings") {
  schedule_path path;
  for (unsigned i = 0; i != 100; ++i) path.add(i % 3);
  std::string const all = path.text();
  std::string said;
  bool is_inside = false;
  auto const recipe = detail::schedule_recipe(path);
  for (char const c : recipe)
    if (c == '"')
      is_inside = !is_inside;
    else if (is_inside)
      said += c;
    else
      CHECK(std::string_view("check_schedule(, ...)\n").find(c) != std::string_view::npos);
  CHECK(said == all);
  for (std::size_t at = 0, end; at < recipe.size(); at = end + 1) {
    end = std::min(recipe.find('\n', at), recipe.size());
    CHECK(end - at < 76);  // as wide as Catch2 lets a line be
  }
}

TEST_CASE("the result capture is restored after a search, also if the search throws") {
  auto& before = Catch::getResultCapture();
  CHECK_THROWS_AS(
      check_every_schedule({.max_preemptions = 1, .reduce = true}, zero, two_increments, always),
      std::invalid_argument);
  CHECK(&Catch::getResultCapture() == &before);
  catch2_listener::hears([] {
    auto const& outside = Catch::getResultCapture();
    check_every_schedule(zero, two_of<requires_two>, always);
    return &Catch::getResultCapture() == &outside ? 0 : throw std::logic_error("another one");
  });
  CHECK(&Catch::getResultCapture() == &before);
}

TEST_CASE("a failing require_ form ends the test case") {
  bool goes_on = false;
  schedule_path first;
  first.add(0);
  auto const said = catch2_listener::hears([&] {
                      try {
                        require_every_schedule(zero, adds_twice, always);
                        require_random_schedules({.max_schedules = 3}, zero, adds_twice, always);
                        require_schedule(first.text(), zero, adds_twice, always);
                        require_every_schedule(zero, two_of<requires_two>, always);
                        goes_on = true;
                      } catch (Catch::TestFailureException const&) {
                      }
                      return 0;
                    }).first;
  CHECK_FALSE(goes_on);
  REQUIRE(said.assertions.size() == 4);
  for (auto const& a : said.assertions) CHECK(a.macro.starts_with("require_"));
  CHECK(said.assertions[2].passed);
  CHECK_FALSE(said.assertions[3].passed);
}

TEST_CASE("a search inside another one is an assertion of the outer search's schedule") {
  auto const inner_fails = [](int&) {
    INFO("around");
    check_every_schedule(zero, two_increments, [](int& n) { CHECK(n == 2); });
  };
  auto const inner_passes = [](int& n) {
    check_every_schedule(zero, adds_twice, [](int& sum) { CHECK(sum == 2); });
    CHECK(n == 2);
  };
  auto const [said, found] = catch2_listener::hears([&] {
    check_every_schedule(zero, adds_twice, inner_passes);
    return exploration(check_every_schedule(zero, adds_twice, inner_fails));
  });
  REQUIRE(said.assertions.size() == 2);
  CHECK(said.assertions[0].passed);
  CHECK_FALSE(said.assertions[1].passed);
  CHECK(found.failed == 2);
  auto const& text = found.first_failure()->result.text;
  CHECK(text.starts_with("check_every_schedule at tests/testing/catch2_test.cpp:"));
  CHECK(has(text, "6 schedules, 4 failed"));
  CHECK(text.ends_with("with message: around"));
}

struct tally {
  shared<int> n{0};
};
eff<void, syncing> sees_zero_and_adds(tally& t) {
  int const seen = co_await t.n.get();
  CHECK(seen == 0);
  co_await t.n.set(seen + 1);
}
eff<void, spawning<syncing>> two_see_zero(tally& t) {
  co_await spawn(sees_zero_and_adds, std::ref(t));
  co_await spawn(sees_zero_and_adds, std::ref(t));
}

TEST_CASE("bounded, parallel and reduced searches report failed assertions of the program") {
  tests::every_frame_dies const here;
  auto const parallel = granularity::parallel;
  auto const options =
      GENERATE_COPY(explore_options{.max_preemptions = 1}, explore_options{.granularity = parallel},
                    explore_options{.granularity = parallel, .reduce = true});
  auto const [said, found] = catch2_listener::hears([&options] {
    return exploration(
        check_every_schedule(options, [] { return tally(); }, two_see_zero, [](tally&) {}));
  });
  CHECK(found.failed != 0);
  CHECK((found.failed == found.schedules) == (options.granularity != parallel));
  REQUIRE(said.assertions.size() == 1);
  CHECK_FALSE(said.assertions[0].passed);
  CHECK(has(said.assertions[0].text, "CHECK( seen == 0 )"));
  CHECK(has(said.assertions[0].text, "\n  with expansion: 1 == 0\n"));
}

struct coin {
  struct flip : op<bool> {};
  using operations = op_list<flip>;
};
struct flips {
  bool on(coin::flip) { return decide(2) == 1; }
};
eff<void, coin> flips_twice(int& n) {
  for (int i = 0; i != 2; ++i) {
    bool const is_heads = co_await coin::flip{};
    n += is_heads;
  }
}

TEST_CASE("a search visits each decision of a handler") {
  tests::every_frame_dies const here;
  auto const with_coin = [](int&) { return flips(); };
  auto const [said, found] = catch2_listener::hears([&] {
    return exploration(
        check_every_schedule(zero, flips_twice, [](int& n) { CHECK(n != 2); }, with_coin));
  });
  CHECK(found.schedules == 4);
  CHECK(found.failed == 1);
  REQUIRE(said.assertions.size() == 1);
  CHECK(has(said.assertions.front().text, "2 decisions (decided)"));
  CHECK(has(said.assertions.front().text, "1: begins; decided: 1 and 1"));
}

TEST_CASE("a fatal signal is reported with the beginning of the schedule in which it arose") {
  auto const said = catch2_listener::hears([] {
                      check_every_schedule(zero, two_increments, [](int& n) {
                        if (n != 2) Catch::getResultCapture().handleFatalErrorCondition("SIGSEGV");
                      });
                      return 0;
                    }).first;
  REQUIRE(!said.fatal.empty());
  schedule_path lost;  // the first schedule whose result is not 2
  for (unsigned const choice : {0u, 1u, 0u}) lost.add(choice, process_id().child(choice + 1));
  CHECK(said.fatal.front() ==
        "SIGSEGV, in a schedule that begins with\ncheck_schedule(\"" + lost.text() + "\", ...)");
}

TEST_CASE("check_schedules is an assertion of the running test, and require_schedules ends it") {
  tests::every_frame_dies const here;
  auto const two = [](int& n) { CHECK(n == 2); };
  bool has_thrown = false;
  auto const said =
      catch2_listener::hears([&] {
        CHECK(exploration(check_schedules(zero, adds_twice, two)).complete);
        check_schedules({.max_shrinking_runs = 0}, zero, two_of<requires_two>, always);
        try {
          require_schedules(zero, two_of<requires_two>, always);
        } catch (Catch::TestFailureException const&) {
          has_thrown = true;
        }
        return 0;
      }).first;
  CHECK(has_thrown);
  REQUIRE(said.assertions.size() == 3);
  auto const& right = said.assertions[0];
  CHECK(right.passed);
  CHECK(right.macro == "check_schedules");
  CHECK(has(right.text, "complete: no failure in any of the 2 schedules of several threads\n"));
  auto const& wrong = said.assertions[1];
  CHECK_FALSE(wrong.passed);
  CHECK(wrong.file == std::source_location::current().file_name());
  CHECK(has(wrong.text, "failure in a schedule of several threads with "));
  CHECK(has(wrong.text, "the first failure: REQUIRE( n == 2 ) at tests/testing/catch2_test.cpp:"));
  CHECK(has(wrong.text, "to see it again:\ncheck_schedule(\"2p:"));
  CHECK_FALSE(said.assertions[2].passed);
  CHECK(said.assertions[2].macro == "require_schedules");
}

TEST_CASE("check_schedules fails if no schedule was run to its end") {
  auto const for_ever = [](int& n) -> process {
    for (;;) {
      ++n;
      co_await proc::yield{};
    }
  };
  auto const said = catch2_listener::hears([&] {
                      check_schedules({.time = 100ms, .max_steps = 20}, zero, for_ever, always);
                      check_schedules({.time = 0s}, zero, adds_twice, always);
                      return 0;
                    }).first;
  REQUIRE(said.assertions.size() == 2);
  for (auto const& a : said.assertions) {
    CHECK_FALSE(a.passed);
    CHECK(has(a.text, "no schedule was "));
  }
}
