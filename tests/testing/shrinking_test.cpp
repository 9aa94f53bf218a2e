// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/every_run.hpp"

/// Schedules that are shrunk: by shrink, and by explore and random_walk on their own.

TEST_CASE("a program is run at most as often as the limit of runs allows") {
  every_frame_dies const here;
  std::vector<unsigned> const steps{3, 3, 3};
  for (std::size_t const most : {0U, 1U, 10U, 50U}) {
    std::size_t runs = 0;
    auto const count = [&runs] {
      ++runs;
      return std::string();
    };
    schedule_path p;
    for (unsigned const c : {0U, 1U, 2U, 0U, 1U, 2U}) p.add(c);
    shrink(p.text(), most, count, independent(steps),
           [](std::string const& s) { return s.find('c') < s.rfind('a'); });
    CHECK(runs <= most + 1);  // and one run to see how the schedule ends
  }
}

/// What shrinking minimises, in lexicographic order.
struct size {
  std::size_t preemptions, switches, steps;
  friend auto operator<=>(size const&, size const&) = default;
};
size size_of(exploration::outcome const& o) { return {o.preemptions, o.switches, o.trace.size()}; }
size size_of(one_run const& r) { return {r.preemptions, r.switches, r.steps}; }

exploration::outcome shrunk(schedule_path const& from, std::size_t runs, small_program const& p) {
  auto const found = shrink(from.text(), runs, make_small_world, running(p), number);
  CHECK_FALSE(found.nondeterminism);
  REQUIRE(found.outcomes.size() == 1);
  return found.outcomes[0];
}

/// Calls f(program, all its runs, one of them) for small programs in both granularities.
template <class F>
void for_each_small_program(unsigned how_many, F f) {
  every_frame_dies const here;
  seeds(how_many).for_each([&](unsigned seed) {
    dice d(seed);
    auto const p = draw_small_program(d);
    auto const g = d(2) == 0 ? granularity::cooperative : granularity::parallel;
    auto const all = every_run(make_small_world, running(p), number, 500, g);
    if (all.size() > 500) return;
    INFO("seed " << seed);
    f(p, all, all[d(static_cast<unsigned>(all.size()))]);
  });
}

struct counted {
  int n = 0;
  std::string order;
};

/// The number of updates that are lost is part of the outcome.
run_result how_many(counted const& c) {
  return {c.n == 3 ? verdict::ok : verdict::failed, std::to_string(c.n)};
}

TEST_CASE("a shrunk schedule ends in the same way and is no larger, for any number of runs") {
  for_each_small_program(80, [](auto const& p, auto const&, one_run const& one) {
    for (std::size_t const runs : {1U, 2U, 5U, 20U, 200U}) {
      auto const o = shrunk(one.path, runs, p);
      CHECK(o.result == one.result);
      CHECK(size_of(o) <= size_of(one));
      CHECK(o.found == one.path);
      CHECK((o.path == one.path || size_of(o) < size_of(one)));
    }
  });
}

constexpr std::size_t enough = 100'000;

TEST_CASE("a shrunk schedule is the smallest that ends in its way, if the runs suffice") {
  std::size_t have_come_down = 0;
  for_each_small_program(150, [&](auto const& p, auto const& all, one_run const& one) {
    auto const o = shrunk(one.path, enough, p);
    CHECK(o.preemptions == fewest_preemptions(all, one.result));
    have_come_down += o.preemptions < one.preemptions;
    auto const is_smaller = [&](one_run const& r) {
      return r.result == o.result && size_of(r) < size_of(o);
    };
    CHECK(std::ranges::none_of(all, is_smaller));
  });
  if (seeds(0).only_some()) return;
  CHECK(have_come_down > 20);
}

TEST_CASE("a shrunk schedule can be followed, and has the steps that it lists") {
  for_each_small_program(80, [](auto const& p, auto const&, one_run const& one) {
    auto const o = shrunk(one.path, 200, p);
    auto const again = follow(o.path.text(), make_small_world, running(p), number);
    CHECK_FALSE(again.nondeterminism);
    REQUIRE(again.outcomes.size() == 1);
    CHECK(again.outcomes[0].result == o.result);
    CHECK(size_of(again.outcomes[0]) == size_of(o));
    REQUIRE(again.outcomes[0].trace.size() == o.trace.size());
    for (std::size_t i = 0; i != o.trace.size(); ++i)
      CHECK(again.outcomes[0].trace[i].text() == o.trace[i].text());
  });
}

TEST_CASE("a schedule always shrinks to the same schedule, and a smallest one stays as it is") {
  for_each_small_program(60, [](auto const& p, auto const&, one_run const& one) {
    auto const o = shrunk(one.path, 300, p);
    CHECK(shrunk(one.path, 300, p).path == o.path);
    auto const least = shrunk(one.path, enough, p);
    CHECK(shrunk(least.path, enough, p).path == least.path);
  });
}

TEST_CASE("a schedule is left as it was found if no run is allowed") {
  for_each_small_program(40, [](auto const& p, auto const&, one_run const& one) {
    auto const o = shrunk(one.path, 0, p);
    CHECK(o.path == one.path);
    CHECK(o.found == one.path);
    CHECK(size_of(o) == size_of(one));
  });
}

TEST_CASE("a path that does not fit is not shrunk, and the reason is reported") {
  every_frame_dies const here;
  schedule_path p;
  p.add(7);
  auto const found = shrink(p.text(), enough, no_order, independent({2, 2}), the_order);
  CHECK(found.nondeterminism);
  CHECK(found.what_differed.find("choice 1 of the path") != std::string::npos);
  CHECK(found.schedules == 1);
}

// ---- a failure that takes one preemption, among unrelated steps

eff<void, proc> increments(counted& c, unsigned before, unsigned after) {
  for (unsigned i = 0; i != before; ++i) co_await proc::yield{};
  int const seen = c.n;
  co_await proc::yield{};
  c.n = seen + 1;
  for (unsigned i = 0; i != after; ++i) co_await proc::yield{};
}
eff<void, spawning<proc>> three_increments(counted& c) {
  co_await spawn(increments, std::ref(c), 3U, 2U);
  co_await spawn(increments, std::ref(c), 1U, 4U);
  co_await spawn(increments, std::ref(c), 0U, 5U);
}
counted none_yet() { return {}; }

TEST_CASE("a failure of random_walk is shrunk as far as by a later call of shrink") {
  every_frame_dies const here;
  for (std::uint64_t seed = 0; seed != 10; ++seed) {
    auto const found =
        random_walk({.seed = seed, .by = walk_strategy::uniform, .max_shrinking_runs = 0}, none_yet,
                    three_increments, how_many);
    auto const* const first = found.first_failure();
    REQUIRE(first);
    CHECK(first->path == first->found);

    auto const by_hand = shrink(first->path.text(), 10'000, none_yet, three_increments, how_many);
    REQUIRE(by_hand.outcomes.size() == 1);
    auto const& small = by_hand.outcomes[0];
    CHECK(small.result == first->result);
    CHECK(size_of(small) < size_of(*first));
    CHECK(small.found == first->path);
    // One process reads, others run, and it writes: one preemption, whichever update is lost.
    CHECK(small.preemptions == 1);

    auto const by_itself = random_walk({.seed = seed, .by = walk_strategy::uniform}, none_yet,
                                       three_increments, how_many);
    REQUIRE(by_itself.first_failure());
    CHECK(by_itself.first_failure()->path == small.path);
    CHECK(by_itself.first_failure()->found == first->path);

    auto const again = follow(small.path.text(), none_yet, three_increments, how_many);
    CHECK_FALSE(again.nondeterminism);
    CHECK(again.failed == 1);
    CHECK(again.outcomes.at(0).result == first->result);
  }
}

/// 40 steps, three of which leave a mark.
eff<void, proc> leaves_marks(std::string& marks, char name) {
  for (int i = 1; i <= 40; ++i) {
    if (i % 10 == 0 && i != 40) marks += name;
    if (i != 40) co_await proc::yield{};
  }
}
eff<void, spawning<proc>> two_leave_marks(std::string& marks) {
  co_await spawn(leaves_marks, std::ref(marks), 'a');
  co_await spawn(leaves_marks, std::ref(marks), 'b');
}
bool do_not_alternate(std::string const& marks) { return marks != "ababab"; }

TEST_CASE(
    "a long schedule is shrunk in far fewer runs than there are schedules with few preemptions") {
  every_frame_dies const here;
  // With 3 preemptions, which are too few, there are more than 10 000 schedules.
  for (std::uint64_t const seed : {1U, 2U, 3U, 4U, 5U}) {
    auto const found =
        random_walk({.seed = seed, .by = walk_strategy::uniform, .max_shrinking_runs = 0}, no_order,
                    two_leave_marks, do_not_alternate);
    REQUIRE(found.first_failure());
    CHECK(found.first_failure()->preemptions > 10);
    auto const small = shrink(found.first_failure()->path.text(), 2'000, no_order, two_leave_marks,
                              do_not_alternate);
    REQUIRE(small.outcomes.size() == 1);
    CHECK(small.failed == 1);
    CHECK(small.outcomes[0].preemptions == 4);
    CHECK(small.outcomes[0].switches == 6);
  }
}

TEST_CASE("explore shrinks the first failure and leaves the other outcomes as they were") {
  every_frame_dies const here;
  auto const two_apart = [](std::string const& s) {
    bool const wrong = s.front() == s.back();
    return run_result{wrong ? verdict::failed : verdict::ok, wrong ? "" : s};
  };
  auto const plain =
      explore({.max_shrinking_runs = 0}, no_order, independent({2, 2, 2}), two_apart);
  auto const found = explore(no_order, independent({2, 2, 2}), two_apart);
  REQUIRE(plain.outcomes.size() == found.outcomes.size());
  CHECK(plain.schedules == found.schedules);  // runs for shrinking do not count as visits
  CHECK(plain.failed == found.failed);
  for (std::size_t i = 0; i != found.outcomes.size(); ++i) {
    auto const& o = found.outcomes[i];
    CHECK(o.found == plain.outcomes[i].path);
    if (&o == found.first_failure())
      CHECK(size_of(o) <= size_of(plain.outcomes[i]));
    else
      CHECK(o.path == plain.outcomes[i].path);
  }
  CHECK(found.first_failure()->preemptions == 1);  // a b b c c a
  CHECK(found.first_failure()->switches == 4);
}
