// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/sched/tasks/when_all.hpp"

/// Joins of ranges of tasks, on every backend.

eff<long, pure> fib(long n) {
  if (n < 2) co_return n;
  std::array both{fib(n - 1), fib(n - 2)};
  auto const [a, b] = co_await when_all(std::move(both));
  co_return a + b;
}

BACKENDS_TEST_CASE("a join of an array of tasks yields an array", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  long n = 0;
  run_on(chosen, [&n]() -> eff<void, pure> { n = co_await fib(16); });
  CHECK(n == 987);
}

eff<int, pure> same(int n) { co_return n; }

/// The numbers from 0 to n - 1.
std::vector<int> first(int n) {
  std::vector<int> all;
  for (int i = 0; i != n; ++i) all.push_back(i);
  return all;
}

BACKENDS_TEST_CASE("a join of a view of tasks yields their results in order", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::vector<int> got;
  run_on(chosen, [&]() -> eff<void, pure> {
    got = co_await when_all(std::views::iota(0, 300) | std::views::transform(same));
  });
  CHECK(got == first(300));
}

BACKENDS_TEST_CASE("a join takes the tasks out of a container that is moved", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::vector<int> from_vector;
  std::vector<int> from_list;
  run_on(chosen, [&]() -> eff<void, pure> {
    std::vector<eff<int, pure>> v;
    std::list<eff<int, pure>> l;
    for (int i = 0; i != 7; ++i) {
      v.push_back(same(i));
      l.push_back(same(i));
    }
    from_vector = co_await when_all(std::move(v));
    from_list = co_await when_all(std::move(l));
  });
  CHECK(from_vector == first(7));
  CHECK(from_list == first(7));
}

BACKENDS_TEST_CASE("a range of unknown size is traversed once", "", on_one_thread, on_locked_queue,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::vector<int> got;
  int made = 0;
  run_on(chosen, [&]() -> eff<void, pure> {
    std::istringstream in("3 1 4 1 5 9 2 6");
    auto const make = [&made](int n) {
      ++made;
      return same(n);
    };
    got = co_await when_all(std::ranges::istream_view<int>(in) | std::views::transform(make));
  });
  CHECK(got == std::vector{3, 1, 4, 1, 5, 9, 2, 6});
  CHECK(made == 8);
}

BACKENDS_TEST_CASE("a join of no tasks yields its result at once", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  int ends = 0;
  run_on(chosen, [&]() -> eff<void, pure> {
    std::vector<eff<int, pure>> none;
    auto const a = co_await when_all(std::move(none));
    std::array<eff<int, pure>, 0> no_array;
    std::array<int, 0> const b = co_await when_all(std::move(no_array));
    auto const c =
        co_await when_all(std::views::iota(0, 9) | std::views::filter([](int) { return false; }) |
                          std::views::transform(same));
    if (a.empty() && b.empty() && c.empty()) ++ends;
  });
  CHECK(ends == 1);
}

BACKENDS_TEST_CASE("a join of one task yields one result", "", on_one_thread, on_locked_queue,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::vector<int> got;
  run_on(chosen, [&]() -> eff<void, pure> {
    got = co_await when_all(std::views::iota(5, 6) | std::views::transform(same));
  });
  CHECK(got == std::vector{5});
}

eff<std::unique_ptr<int>, pure> owned(int n) { co_return std::make_unique<int>(n); }

BACKENDS_TEST_CASE("move-only results are moved out", "", on_one_thread, on_locked_queue,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::vector<std::unique_ptr<int>> got;
  int sum = 0;
  run_on(chosen, [&]() -> eff<void, pure> {
    got = co_await when_all(std::views::iota(0, 20) | std::views::transform(owned));
    std::array both{owned(30), owned(12)};
    auto const two = co_await when_all(std::move(both));
    sum = *two[0] + *two[1];
  });
  REQUIRE(got.size() == 20);
  CHECK(*got[19] == 19);
  CHECK(sum == 42);
}

eff<bool, pure> is_odd(int n) { co_return n % 2 == 1; }

BACKENDS_TEST_CASE("tasks on several threads may yield bools", "", on_one_thread, on_locked_queue,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::vector<bool> got;
  run_on(chosen, [&]() -> eff<void, pure> {
    got = co_await when_all(std::views::iota(0, 200) | std::views::transform(is_odd));
  });
  REQUIRE(got.size() == 200);
  for (std::size_t i = 0; i != got.size(); ++i) CHECK(got[i] == (i % 2 == 1));
}

eff<void, yields, proc> adds(std::atomic<int>& to, int n) {
  co_await proc::yield{};
  to += n;
}

BACKENDS_TEST_CASE("a join waits for tasks of a range that yield nothing", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::atomic<int> sum = 0;
  int seen = 0;
  run_on(chosen, [&]() -> eff<void, yields, proc> {
    co_await when_all(std::views::iota(0, 50) |
                      std::views::transform([&](int n) { return adds(sum, n); }));
    seen = sum;
    std::array both{adds(sum, 1), adds(sum, 2)};
    static_assert(std::is_void_v<decltype(when_all(std::move(both)).finish())>);
    co_await when_all(std::move(both));
  });
  CHECK(seen == 49 * 50 / 2);
  CHECK(sum == seen + 3);
}

eff<int, pure> fails_at(int bad, int n, std::atomic<int>& begun) {
  ++begun;
  if (n == bad) throw wrong(std::to_string(n));
  co_return n;
}

BACKENDS_TEST_CASE("a join of a range throws an exception of its task", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::string caught;
  std::atomic<int> begun = 0;
  run_on(chosen, [&]() -> eff<void, pure> {
    try {
      (void)co_await when_all(std::views::iota(0, 20) |
                              std::views::transform([&](int n) { return fails_at(10, n, begun); }));
    } catch (wrong const& e) {
      caught = e.what();
    }
  });
  CHECK(caught == "10");
  CHECK(begun >= 1);
  CHECK(begun <= 20);
}

BACKENDS_TEST_CASE("after a task of a range has failed its thread begins no other", "",
                   on_one_thread, on_sharing<1>, on_stealing<1>) {
  every_frame_dies const check;
  std::string caught;
  std::atomic<int> begun = 0;
  run_on(chosen, [&]() -> eff<void, pure> {
    try {
      std::array three{fails_at(1, 0, begun), fails_at(1, 1, begun), fails_at(1, 2, begun)};
      (void)co_await when_all(std::move(three));
    } catch (wrong const& e) {
      caught = e.what();
    }
  });
  CHECK(caught == "1");
  CHECK(begun == 2);
}

TEST_CASE("a view that throws while it makes tasks leaves none behind") {
  every_frame_dies const check;
  std::string caught;
  std::atomic<int> begun = 0;
  run_on<on_one_thread>([&]() -> eff<void, pure> {
    auto const make = [&](int n) {
      if (n == 5) throw wrong("made");
      return fails_at(-1, n, begun);
    };
    try {
      (void)co_await when_all(std::views::iota(0, 9) | std::views::transform(make));
    } catch (wrong const& e) {
      caught = e.what();
    }
  });
  CHECK(caught == "made");
  CHECK(begun == 0);
}

TEST_CASE("tasks of a range that is not awaited are dropped") {
  every_frame_dies const check;
  std::atomic<int> begun = 0;
  {
    auto const dropped = when_all(std::views::iota(0, 9) | std::views::transform([&](int n) {
                                    return fails_at(-1, n, begun);
                                  }));
    CHECK(!dropped.is_ready());
  }
  CHECK(begun == 0);
}
