// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/allocations.hpp"
#include "weft/sched/tasks/parallel.hpp"
#include "weft/sched/tasks/when_all.hpp"

/// The allocations of tasks of a range and of parallel loops; each of them may fail.

eff<int, pure> same(int n) { co_return n; }

/// The number of frames and of blocks from their pool, and of other allocations.
using count = std::array<std::int64_t, 2>;

/// The allocations of the second run, on one thread.
template <class F>
count allocated_by(F f) {
  count n = {};
  run_on<on_stealing<1>>([&]() -> eff<void, pure> {
    for (int i = 0; i != 2; ++i) {
      auto const frames = detail::frames_so_far().births;
      long const all = allocations;
      co_await f();
      n[0] = detail::frames_so_far().births - frames - 1;  // that of `f`
      n[1] = allocations - all - (detail::pooling ? 0 : n[0] + 1);
    }
  });
  return n;
}

TEST_CASE("tasks in an array allocate nothing but their frames") {
  int sum = 0;
  auto const n = allocated_by([&]() -> eff<void, pure> {
    std::array four{same(1), same(2), same(3), same(4)};
    auto const all = co_await when_all(std::move(four));
    for (int const x : all) sum += x;
  });
  CHECK(n == count{4, 0});
  CHECK(sum == 20);
}

TEST_CASE("tasks of a view allocate a block, and the results, and their frames") {
  std::size_t got = 0;
  auto const n = allocated_by([&]() -> eff<void, pure> {
    auto const all = co_await when_all(std::views::iota(0, 5) | std::views::transform(same));
    got += all.size();
  });
  CHECK(n == count{5 + 1, 1});
  CHECK(got == 10);
}

TEST_CASE("a join of no tasks allocates nothing") {
  auto const n = allocated_by([]() -> eff<void, pure> {
    (void)co_await when_all(std::views::iota(0, 0) | std::views::transform(same));
  });
  CHECK(n == count{0, 0});
}

TEST_CASE("a loop that no other thread takes part of is divided once for each bit of its size") {
  std::vector<int> v(1000);
  auto const all =
      allocated_by([&]() -> eff<void, pure> { co_await parallel_for(v, [](int& x) { ++x; }); });
  CHECK(all == count{1 + 2 * 6, 0});  // 64 pieces
  auto const single = allocated_by(
      [&]() -> eff<void, pure> { co_await parallel_for(v, [](int& x) { ++x; }, grain{1}); });
  CHECK(single == count{1 + 2 * 10, 0});
  auto const whole = allocated_by(
      [&]() -> eff<void, pure> { co_await parallel_for(v, [](int& x) { ++x; }, grain{501}); });
  CHECK(whole == count{1, 0});
  CHECK(v == std::vector<int>(1000, 6));
}

TEST_CASE("a reduction is divided according to its size") {
  std::vector<int> v(1000, 1);
  int sum = 0;
  auto const n =
      allocated_by([&]() -> eff<void, pure> { sum = co_await parallel_reduce(v, 0, std::plus()); });
  CHECK(n == count{64 + 63, 0});
  CHECK(sum == 1000);
}

TEST_CASE("each allocation of tasks of ranges and of loops may fail") {
  int failed = 0;
  for (int n = 0;; ++n) {
    every_frame_dies const check;
    until_failure = n;
    try {
      schedule([]() -> eff<void, pure> {
        std::array both{same(1), same(2)};
        (void)co_await when_all(std::move(both));
        (void)co_await when_all(std::views::iota(0, 9) | std::views::transform(same));
        (void)co_await when_all(std::views::iota(0, 9) |
                                std::views::filter([](int) { return true; }) |
                                std::views::transform(same));
        std::vector<int> v(9);
        co_await parallel_for(v, [](int& x) { ++x; });
        (void)co_await parallel_reduce(v, 0, std::plus());
      });
      until_failure = -1;
      break;
    } catch (std::bad_alloc const&) {
      until_failure = -1;
      ++failed;
    }
  }
  CHECK(failed > 0);
}
