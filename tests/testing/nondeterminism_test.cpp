// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Programs that are not deterministic and programs that leak: every search detects both, and
/// reports where and how.

using step = eff<void, proc, syncing>;
using parent = eff<void, spawning<proc, syncing>>;

/// State that all processes access, so that a reduction has orders to try.
struct world {
  gate door;
};
step wakes(world& w, int times) {
  for (int i = 0; i != times; ++i) {
    if (i != 0) co_await proc::yield{};
    co_await syncing::wake{w.door};
  }
}
world make_world() { return {}; }
bool fine(world const&) { return true; }

/// A program of two processes of two steps; run number `in_run`, counted from 1, differs as told.
auto two_but(int in_run, int processes, int steps = 2) {
  return [=, run = 0](world& w) mutable -> parent {
    bool const now = ++run == in_run;
    return [](world& in, int n, int of) -> parent {
      for (int i = 0; i != n; ++i) co_await spawn(wakes, std::ref(in), of);
    }(w, now ? processes : 2, now ? steps : 2);
  };
}

void says(exploration const& found, std::string const& how) {
  CHECK(found.nondeterminism);
  CHECK_FALSE(found.ok());
  CHECK_FALSE(found.complete);
  CHECK(found.what_differed == how);
  CHECK_THAT(found.report(), Contains("nondeterminism: " + how));
}

TEST_CASE("every search reports a first schedule that differs when it is run again") {
  weft::tests::every_frame_dies const here;
  auto const more =
      "at step 2 of the same schedule, run twice, 1.1 and 1.2 can be chosen, and then 1.1, 1.2 and "
      "1.3";
  says(explore(make_world, two_but(2, 3), fine), more);
  says(explore({.reduce = true}, make_world, two_but(2, 3), fine), more);
  says(explore({.max_preemptions = 3}, make_world, two_but(2, 3), fine), more);
  for (walk_strategy const by : {walk_strategy::uniform, walk_strategy::weighted,
                                 walk_strategy::pct, walk_strategy::portfolio})
    says(random_walk({.by = by}, make_world, two_but(2, 3), fine), more);

  auto const over =
      "at step 2 of the same schedule, run twice, 1.1 and 1.2 can be chosen, and then there is no "
      "choice";
  says(explore(make_world, two_but(2, 1), fine), over);
  says(explore({.reduce = true}, make_world, two_but(2, 1), fine), over);
  says(random_walk(make_world, two_but(2, 1), fine), over);
}

TEST_CASE("a program that differs in the middle of a search is reported, with both ways") {
  weft::tests::every_frame_dies const here;
  auto const more =
      "at step 2, after the same choices, 1.1, 1.2 and 1.3 can be chosen, and before 1.1 and 1.2 "
      "could";
  for (int const run : {3, 5, 6}) {
    says(explore(make_world, two_but(run, 3), fine), more);
    says(explore({.reduce = true}, make_world, two_but(run, 3), fine), more);
    says(explore({.max_preemptions = 3}, make_world, two_but(run, 3), fine), more);
  }
}

TEST_CASE(
    "a program that ends earlier in the middle of a search is reported with the ready processes") {
  weft::tests::every_frame_dies const here;
  auto const over =
      "at step 2, after the same choices, no process can be chosen, and before 1.1 and 1.2 could";
  for (int const run : {3, 6}) {
    says(explore(make_world, two_but(run, 1), fine), over);
    says(explore({.reduce = true}, make_world, two_but(run, 1), fine), over);
    says(explore({.max_preemptions = 3}, make_world, two_but(run, 1), fine), over);
  }
}

TEST_CASE("a walk runs each new outcome again, and reports it if the run differs") {
  weft::tests::every_frame_dies const here;
  int runs = 0;
  auto const found = random_walk({.by = walk_strategy::uniform}, make_world, two_but(21, 3),
                                 [&runs](world const&) { return ++runs < 20 ? "early" : "late"; });
  // Differs in run 21: the second run of the schedule that ends as "late".
  says(
      found,
      "at step 2 of the same schedule, run twice, 1.1 and 1.2 can be chosen, and then 1.1, 1.2 and "
      "1.3");
  CHECK(found.outcomes.size() == 2);
  CHECK(found.schedules == 19);
}

TEST_CASE("where more than eight processes can be chosen, the report has their number") {
  weft::tests::every_frame_dies const here;
  auto const many_but = [](int in_run) {
    return [in_run, run = 0](world& w) mutable -> parent {
      return [](world& in, int n) -> parent {
        for (int i = 0; i != n; ++i) co_await spawn(wakes, std::ref(in), 1);
      }(w, ++run == in_run ? 13 : 12);
    };
  };
  says(explore({.max_schedules = 50}, make_world, many_but(2), fine),
       "at step 2 of the same schedule, run twice, 12 processes can be chosen, and then 13 "
       "processes");
  says(explore({.max_schedules = 50}, make_world, many_but(7), fine),
       "at step 2, after the same choices, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 1.10, "
       "1.11, 1.12 and 1.13 can be chosen, and before 12 processes could");
}

TEST_CASE("steps at which only one process is ready count in the comparison, too") {
  weft::tests::every_frame_dies const here;
  says(explore(
           make_world,
           [run = 0](world& w) mutable -> parent {
             int const now = ++run;
             return
                 [](world& in, int n) -> parent { co_await spawn(wakes, std::ref(in), n); }(w, now);
           },
           fine),
       "the same schedule, run twice, has 2 steps, and then 3");
}

TEST_CASE(
    "a check that gives another result for the same schedule is reported, with both results") {
  weft::tests::every_frame_dies const here;
  auto const check = [n = 0](world const&) mutable { return "n = " + std::to_string(++n); };
  auto const how = "the same schedule, run again, ends differently: \"n = 1\", and then \"n = 2\"";
  says(explore(make_world, two_but(0, 0), check), how);
  says(explore({.reduce = true}, make_world, two_but(0, 0), check), how);
  says(random_walk(make_world, two_but(0, 0), check), how);
}

TEST_CASE("an exception with another text is reported, with both texts") {
  weft::tests::every_frame_dies const here;
  auto const throws = [n = 0](world&) mutable -> parent {
    std::string const text = "error " + std::to_string(++n);
    return [](std::string t) -> parent {
      if (!t.empty()) throw std::runtime_error(t);
      co_return;
    }(text);
  };
  auto const how =
      "the same schedule, run again, ends differently: \"error 1\", and then \"error 2\"";
  says(explore(make_world, throws, fine), how);
  says(random_walk(make_world, throws, fine), how);
}

TEST_CASE("a check that throws in one of two equal runs is reported") {
  weft::tests::every_frame_dies const here;
  auto const found = explore(make_world, two_but(0, 0), [n = 0](world const&) mutable {
    if (++n == 1) throw std::runtime_error("only once");
  });
  says(found,
       "the same schedule, run again, ends differently: with a failure, \"only once\", and then "
       "well");
  CHECK(found.failed == 1);
}

TEST_CASE("a check that returns another bool for the same schedule is reported, with both ends") {
  weft::tests::every_frame_dies const here;
  auto const check = [n = 0](world const&) mutable { return ++n % 2 == 0; };
  auto const how = "the same schedule, run again, ends differently: with a failure, and then well";
  says(explore(make_world, two_but(0, 0), check), how);
  says(explore({.reduce = true}, make_world, two_but(0, 0), check), how);
  says(random_walk(make_world, two_but(0, 0), check), how);
}

TEST_CASE("a failure that is not deterministic is not shrunk") {
  weft::tests::every_frame_dies const here;
  int runs = 0;
  auto const found = explore(
      [&runs] {
        ++runs;
        return make_world();
      },
      two_but(2, 3), [](world const&) { return false; });
  CHECK(found.nondeterminism);
  CHECK(runs == 2);
  CHECK(found.outcomes.at(0).path == found.outcomes.at(0).found);
}

TEST_CASE("a deterministic program is not reported") {
  weft::tests::every_frame_dies const here;
  CHECK(explore(make_world, two_but(0, 0), fine).ok());
  CHECK(explore({.reduce = true}, make_world, two_but(0, 0), fine).ok());
  CHECK(explore({.max_preemptions = 2}, make_world, two_but(0, 0), fine).ok());
  CHECK(random_walk({.max_schedules = 100}, make_world, two_but(0, 0), fine).ok());
}

// ---- leaks

struct keeper : region {
  std::vector<resumption<void>>* kept = nullptr;
  void on(proc::yield, resumption<void> k) { kept->push_back(std::move(k)); }
  void on(proc::fork, resumption<bool>) {}
  void on(proc::exit, resumption<never>) {}
};
eff<void, proc> yields() { co_await proc::yield{}; }
eff<void, proc> keeps(std::vector<resumption<void>>& into) {
  keeper h;
  h.kept = &into;
  co_await handle<proc>(h, yields);
}

TEST_CASE("every search reports frames that are left over as a leak") {
  weft::tests::every_frame_dies const here;
  std::vector<resumption<void>> kept;  // outlives the runs
  auto const program = [&kept](world&) { return keeps(kept); };
  auto const searches = std::vector<std::function<exploration()>>{
      [&] { return explore(make_world, program, fine); },
      [&] { return explore({.max_preemptions = 1}, make_world, program, fine); },
      [&] { return explore({.reduce = true}, make_world, program, fine); },
      [&] { return random_walk({.max_schedules = 3}, make_world, program, fine); },
      [&] { return follow(schedule_path().text(), make_world, program, fine); },
      [&] { return shrink(schedule_path().text(), 10, make_world, program, fine); }};
  for (auto const& search : searches) {
    auto const found = search();
    CHECK(found.leaked > 0);
    CHECK_FALSE(found.ok());
    CHECK(found.failed == 0);
    CHECK_FALSE(found.nondeterminism);
    CHECK_THAT(found.report(), Contains("leak: " + std::to_string(found.leaked) +
                                        " frames are left, first by follow("));
    kept.clear();
  }
}

/// An owned handler that keeps a resumption in itself: a cycle that only the test can break.
struct keeps_itself {
  std::vector<keeps_itself*>* all;
  std::vector<resumption<void>> kept;
  void on(proc::yield, resumption<void> k) {
    all->push_back(this);
    kept.push_back(std::move(k));
  }
  void on(proc::fork, resumption<bool>) {}
  void on(proc::exit, resumption<never>) {}
};
eff<void, proc> keeps_in_the_handler(std::vector<keeps_itself*>& all) {
  co_await handle<proc>(keeps_itself{&all, {}}, yields);
}

TEST_CASE("an owned handler that keeps a resumption in itself is reported as a leak") {
  weft::tests::every_frame_dies const here;
  std::vector<keeps_itself*> all;
  auto const found =
      explore(make_world, [&all](world&) { return keeps_in_the_handler(all); }, fine);
  CHECK(found.leaked > 0);
  CHECK_FALSE(found.ok());
  for (auto* const h : all) std::exchange(h->kept, {}).clear();
}
