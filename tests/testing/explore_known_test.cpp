// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/every_run.hpp"

/// Numbers of schedules and of failures that are known: from brute force by other means, or from
/// formulas.

// ---- locks

using step = eff<void, proc, syncing>;
using parent = eff<void, spawning<proc, syncing>>;

step locks_both(std::reference_wrapper<mutex> one, std::reference_wrapper<mutex> two) {
  auto const first = co_await one.get().lock();
  co_await proc::yield{};
  auto const second = co_await two.get().lock();
  co_await proc::yield{};
}

TEST_CASE(
    "two processes that lock two mutexes in opposite orders have 8 schedules, 4 with a deadlock") {
  weft::tests::every_frame_dies const here;
  struct two_locks {
    mutex a, b;
  };
  auto const found = explore([] { return std::make_unique<two_locks>(); },
                             [](std::unique_ptr<two_locks>& l) -> parent {
                               co_await spawn(locks_both, std::ref(l->a), std::ref(l->b));
                               co_await spawn(locks_both, std::ref(l->b), std::ref(l->a));
                             },
                             [](auto const&) { return true; });
  CHECK(found.complete);
  CHECK(found.schedules == 8);
  CHECK(found.deadlocks == 4);
  CHECK(found.failed == 0);
}

using table = std::vector<mutex>;

struct dinner {
  std::size_t philosophers;
  bool gets_on;  // the last philosopher takes the right fork first
  std::size_t schedules;
  std::size_t deadlocks;
};

void dine(dinner const& d, explore_options const& options) {
  weft::tests::every_frame_dies const here;
  auto const found = explore(
      options, [&] { return std::make_unique<table>(d.philosophers); },
      [&](std::unique_ptr<table>& forks) -> parent {
        for (std::size_t i = 0; i != d.philosophers; ++i) {
          auto left = std::ref((*forks)[i]);
          auto right = std::ref((*forks)[(i + 1) % d.philosophers]);
          if (d.gets_on && i + 1 == d.philosophers) std::swap(left, right);
          co_await spawn(locks_both, left, right);
        }
      },
      [](auto const&) { return true; });
  INFO(d.philosophers << " philosophers: " << found.report());
  CHECK(found.complete);
  CHECK_FALSE(found.nondeterminism);
  CHECK(found.leaked == 0);
  CHECK(found.failed == 0);
  CHECK(found.schedules == d.schedules);
  CHECK(found.deadlocks == d.deadlocks);
}

TEST_CASE("the philosophers have the known numbers of schedules and deadlocks") {
  dinner const d =
      GENERATE(dinner{2, false, 8, 4}, dinner{3, false, 492, 48}, dinner{4, false, 82'396, 1'088},
               dinner{2, true, 6, 0}, dinner{3, true, 366, 0});
  dine(d, {.progress = progress::never});
}

TEST_CASE("a bound that excludes no schedule leaves the philosophers' numbers as they are") {
  dinner const d = GENERATE(dinner{2, false, 8, 4}, dinner{3, false, 492, 48},
                            dinner{2, true, 6, 0}, dinner{3, true, 366, 0});
  dine(d, {.max_preemptions = 100, .progress = progress::never});
}

// ---- stealing half

/// Item i is the number i; the deque holds the items from `top` up to, but not including, `bottom`.
struct four_stolen_from {
  int top = 0;
  int bottom = 4;
  std::array<int, 4> taken{};  // how often each item was taken

  bool swap_top(int from, int to) {
    if (top != from) return false;
    top = to;
    return true;
  }
  void take(int item) { ++taken.at(static_cast<std::size_t>(item)); }
};
four_stolen_from four_items() { return {}; }

eff<void, proc> owns(four_stolen_from& d) {
  for (;;) {
    int const b = --d.bottom;
    co_await proc::yield{};
    if (b > d.top) {
      d.take(b);
      co_await proc::yield{};
      continue;
    }
    if (b == d.top && d.swap_top(b, b + 1)) d.take(b);
    d.bottom = d.top;
    co_return;
  }
}
eff<void, proc> steals_half(four_stolen_from& d) {
  int const t = d.top;
  int const b = d.bottom;
  co_await proc::yield{};
  if (b <= t) co_return;
  int const n = std::max(1, (b - t) / 2);
  if (!d.swap_top(t, t + n)) co_return;
  for (int i = t; i != t + n; ++i) d.take(i);
}
eff<void, spawning<proc>> owner_and_thief(four_stolen_from& d) {
  co_await spawn(owns, std::ref(d));
  co_await spawn(steals_half, std::ref(d));
}
/// An item that is still in the deque has not been taken.
void each_item_once(four_stolen_from const& d) {
  for (int i = 0; i != 4; ++i) {
    int const n = d.taken[static_cast<std::size_t>(i)] + (d.top <= i && i < d.bottom);
    if (n != 1)
      throw std::logic_error("item " + std::to_string(i) + (n ? " is taken twice" : " is lost"));
  }
}

exploration steal(explore_options const& options) {
  weft::tests::every_frame_dies const here;
  return explore(options, four_items, owner_and_thief, each_item_once);
}

TEST_CASE("stealing half of 4 items has 45 schedules, in 2 of which an item is taken twice") {
  auto const found = steal({});
  INFO(found.report());
  CHECK(found.complete);
  CHECK(found.schedules == 45);
  CHECK(found.failed == 2);
  CHECK(found.deadlocks == 0);
  REQUIRE(found.first_failure());
  CHECK(found.first_failure()->result.text == "item 1 is taken twice");
  CHECK(found.first_failure()->preemptions == 2);
}

TEST_CASE(
    "the double take needs 2 preemptions: a bound of 1 misses it, a bound of 2 or more finds it") {
  for (std::size_t bound = 0; bound != 2; ++bound) {
    auto const none = steal({.max_preemptions = bound});
    CHECK(none.ok());
    CHECK_FALSE(none.complete);
  }
  for (std::size_t bound = 2; bound != 5; ++bound) {
    auto const found = steal({.max_preemptions = bound, .max_shrinking_runs = 0});
    REQUIRE(found.first_failure());
    CHECK(found.first_failure()->preemptions == 2);
  }
}

TEST_CASE("a schedule in which an item is taken twice shrinks to 2 preemptions") {
  auto const walked =
      random_walk({.seed = 3, .by = walk_strategy::uniform, .max_shrinking_runs = 0}, four_items,
                  owner_and_thief, each_item_once);
  REQUIRE(walked.first_failure());
  auto const small = shrink(walked.first_failure()->path.text(), 1'000, four_items, owner_and_thief,
                            each_item_once);
  REQUIRE(small.outcomes.size() == 1);
  CHECK(small.outcomes[0].result == walked.first_failure()->result);
  CHECK(small.outcomes[0].preemptions == 2);
}

// ---- formulas

std::uint64_t factorial(std::uint64_t n) { return n < 2 ? 1 : n * factorial(n - 1); }

eff<void, proc> takes_steps(unsigned n) {
  for (unsigned i = 1; i < n; ++i) co_await proc::yield{};
}

int nothing() { return 0; }
bool fine(int const&) { return true; }

TEST_CASE("processes of s1, s2 ... steps have (s1 + s2 + ...)! / (s1! s2! ...) schedules") {
  weft::tests::every_frame_dies const here;
  std::vector<unsigned> const steps =
      GENERATE(std::vector<unsigned>{}, std::vector<unsigned>{7}, std::vector<unsigned>{1, 1, 1, 1},
               std::vector<unsigned>{4, 5}, std::vector<unsigned>{3, 1, 4},
               std::vector<unsigned>{2, 2, 2, 2}, std::vector<unsigned>{1, 2, 3, 3});
  std::uint64_t expected = factorial(std::accumulate(steps.begin(), steps.end(), 0U));
  for (auto const n : steps) expected /= factorial(n);
  auto const found = explore(
      nothing,
      [&](int&) -> eff<void, spawning<proc>> {
        for (auto const n : steps) co_await spawn(takes_steps, n);
      },
      fine);
  CHECK(found.ok());
  CHECK(found.complete);
  CHECK(found.schedules == expected);
}

TEST_CASE(
    "the schedules of independent processes are all orders of their steps, with right switch "
    "counts") {
  weft::tests::every_frame_dies const here;
  std::vector<unsigned> const steps =
      GENERATE(std::vector<unsigned>{4, 3}, std::vector<unsigned>{2, 2, 2},
               std::vector<unsigned>{1, 3, 2}, std::vector<unsigned>{1, 1, 1, 2});
  std::string order;
  for (std::size_t i = 0; i != steps.size(); ++i)
    order.append(steps[i], static_cast<char>('a' + i));
  auto const found =
      explore(weft::tests::no_order, weft::tests::independent(steps), weft::tests::the_order);
  std::size_t orders = 0;
  do {
    ++orders;
    std::size_t switches = 1;  // from the process that spawns the others
    std::size_t preemptions = 0;
    for (std::size_t i = 1; i != order.size(); ++i)
      if (order[i] != order[i - 1]) {
        ++switches;
        preemptions += order.find(order[i - 1], i) != order.npos;
      }
    INFO(order);
    auto const o =
        std::ranges::find(found.outcomes, order, [](auto const& seen) { return seen.result.text; });
    REQUIRE(o != found.outcomes.end());
    CHECK(o->schedules == 1);
    CHECK(o->switches == switches);
    CHECK(o->preemptions == preemptions);
    auto const marks = [&](auto mark) {
      return static_cast<std::size_t>(std::ranges::count_if(o->trace, mark));
    };
    CHECK(marks(&schedule_step::switches) == switches);
    CHECK(marks(&schedule_step::preempts) == preemptions);
    CHECK(marks([](auto const& step) { return step.text().starts_with("! "); }) == preemptions);
    CHECK(marks([](auto const& step) { return step.text().starts_with("> "); }) ==
          switches - preemptions);
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(found.schedules == orders);
}

/// A step and its successors: none, or the next step of the process and a new process for each
/// other.
struct tree {
  std::vector<std::unique_ptr<tree>> after;

  [[nodiscard]] std::uint64_t size() const {
    std::uint64_t n = 1;
    for (auto const& t : after) n += t->size();
    return n;
  }
  [[nodiscard]] std::uint64_t product_of_sizes() const {
    std::uint64_t n = size();
    for (auto const& t : after) n *= t->product_of_sizes();
    return n;
  }
};
/// A tree of `steps` steps, each with at most `most` successors.
std::unique_ptr<tree> draw_tree(weft::tests::dice& d, unsigned steps, std::size_t most) {
  auto root = std::make_unique<tree>();
  std::vector<tree*> all{root.get()};
  while (all.size() != steps) {
    tree* const t = all[d(static_cast<unsigned>(all.size()))];
    if (t->after.size() == most) continue;
    all.push_back(t->after.emplace_back(std::make_unique<tree>()).get());
  }
  return root;
}

eff<void, proc> forks_along(tree const* t) {
  while (!t->after.empty()) {
    std::size_t next = 0;
    if (t->after.size() == 1) {
      co_await proc::yield{};
    } else {
      bool const is_first = co_await proc::fork{};
      next = is_first ? 0 : 1;
    }
    t = t->after[next].get();
  }
}

TEST_CASE("a tree of forks has N! / (the product of its subtrees' sizes) schedules") {
  weft::tests::every_frame_dies const here;
  weft::tests::seeds(60).for_each([](unsigned seed) {
    weft::tests::dice d(seed);
    auto const t = draw_tree(d, 1 + d(8), 2);
    auto const found = explore(nothing, [&](int&) { return forks_along(t.get()); }, fine);
    INFO("seed " << seed);
    CHECK(found.ok());
    CHECK(found.complete);
    CHECK(found.schedules == factorial(t->size()) / t->product_of_sizes());
  });
}

eff<void, proc, spawning<proc>> spawns_along(tree const* t) {
  while (!t->after.empty()) {
    for (std::size_t i = 1; i != t->after.size(); ++i)
      co_await spawn(spawns_along, t->after[i].get());
    co_await proc::yield{};
    t = t->after[0].get();
  }
}

TEST_CASE("a tree of spawned processes has as many schedules, since a spawn is no step") {
  weft::tests::every_frame_dies const here;
  weft::tests::seeds(60).for_each([](unsigned seed) {
    weft::tests::dice d(seed);
    auto const t = draw_tree(d, 1 + d(8), 4);
    auto const found = explore(nothing, [&](int&) { return spawns_along(t.get()); }, fine);
    INFO("seed " << seed);
    CHECK(found.ok());
    CHECK(found.complete);
    CHECK(found.schedules == factorial(t->size()) / t->product_of_sizes());
  });
}
