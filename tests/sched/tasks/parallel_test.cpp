// SPDX-License-Identifier: MIT
#include "weft/sched/tasks/parallel.hpp"

#include "tests/prelude.hpp"

/// Parallel loops, on every backend.

std::vector<int> first(int n) {
  std::vector<int> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

BACKENDS_TEST_CASE("a parallel loop visits each element once", "", on_one_thread, on_locked_queue,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  int wrong_ones = 0;
  for (int const n : {0, 1, 2, 3, 10, 127, 128, 1000, 10'001})
    for (std::size_t const least : {0UL, 1UL, 3UL, 100UL, 20'000UL}) {
      if (n == 10'001 && least == 1) continue;  // thousands of tasks
      auto v = first(n);
      run_on(chosen, [&]() -> eff<void, pure> {
        co_await parallel_for(v, [](int& x) { x += 7; }, grain{least});
      });
      for (int i = 0; i != n; ++i) wrong_ones += v[static_cast<std::size_t>(i)] != i + 7;
    }
  CHECK(wrong_ones == 0);
}

BACKENDS_TEST_CASE("a parallel loop awaits the computation of each element", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  for (std::size_t const least : {0UL, 8UL}) {
    auto v = first(100);
    run_on(chosen, [&]() -> eff<void, yields> {
      auto const twice = [](int& x) -> eff<void, proc> {
        co_await proc::yield{};
        x *= 2;
        co_await proc::yield{};
      };
      co_await parallel_for(v, twice, grain{least});
    });
    for (int i = 0; i != 100; ++i) CHECK(v[static_cast<std::size_t>(i)] == 2 * i);
  }
}

BACKENDS_TEST_CASE("parallel loops may be nested", "", on_one_thread, on_locked_queue,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::vector<std::vector<int>> all(10, first(50));
  long sum = 0;
  run_on(chosen, [&]() -> eff<void, pure> {
    co_await parallel_for(all, [](std::vector<int>& v) -> eff<void, pure> {
      co_await parallel_for(v, [](int& x) { ++x; });
    });
    auto const total = [](std::vector<int> const& v) {
      return std::reduce(v.begin(), v.end(), 0L);
    };
    sum = co_await parallel_reduce(all, 0L, std::plus(), total);
  });
  CHECK(sum == 10 * 50 * 51 / 2);
}

BACKENDS_TEST_CASE("a reduction keeps the order of its operands", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  auto const text = [](int n) { return std::to_string(n); };
  for (int const n : {0, 1, 2, 7, 300}) {
    std::string expected = "from ";
    for (int i = 0; i != n; ++i) expected += text(i);
    for (std::size_t const least : {0UL, 1UL, 5UL, 1000UL}) {
      std::string got;
      run_on(chosen, [&]() -> eff<void, pure> {
        got = co_await parallel_reduce(std::views::iota(0, n), std::string("from "), std::plus(),
                                       text, grain{least});
      });
      CHECK(got == expected);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("a reduction of numbers that round gives the same result on every backend",
                        "", all_backends) {
  every_frame_dies const check;
  auto const numbers = [] {
    std::vector<float> all;
    for (int i = 1; i <= 3000; ++i) all.push_back(1.0F / static_cast<float>(i));
    return all;
  }();
  auto const sum_on = [&]<class Where>(Where, std::size_t least) {
    float sum = 0;
    run_on<Where>([&]() -> eff<void, pure> {
      sum = co_await parallel_reduce(numbers, 0.0F, std::plus(), grain{least});
    });
    return sum;
  };
  for (std::size_t const least : {0UL, 10UL, 100UL})
    CHECK(sum_on(TestType(), least) == sum_on(on_one_thread(), least));
}

BACKENDS_TEST_CASE("a reduction may be of move-only values", "", on_one_thread, on_locked_queue,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  int got = 0;
  auto const v = first(200);
  run_on(chosen, [&]() -> eff<void, pure> {
    auto const sum = co_await parallel_reduce(
        v, std::make_unique<int>(1),
        [](std::unique_ptr<int> a, std::unique_ptr<int> const& b) {
          *a += *b;
          return a;
        },
        [](int n) { return std::make_unique<int>(n); });
    got = *sum;
  });
  CHECK(got == 1 + 199 * 200 / 2);
}

TEST_CASE("a reduction leaves the elements as they are") {
  std::vector<std::string> const words{"a", "b", "c"};
  auto v = words;
  std::string all;
  run_on<on_one_thread>(
      [&]() -> eff<void, pure> { all = co_await parallel_reduce(v, std::string(), std::plus()); });
  CHECK(all == "abc");
  CHECK(v == words);
}

struct point {
  int x = 1;
  void move() { ++x; }
};

TEST_CASE("a named range is borrowed, and a temporary one is kept") {
  every_frame_dies const check;
  std::vector<point> points(10);
  int sum = 0;
  std::atomic<int> seen = 0;
  run_on<on_stealing<2>>([&]() -> eff<void, pure> {
    co_await parallel_for(points, &point::move);
    sum = co_await parallel_reduce(std::span(points).first(5), 0, std::plus(), &point::x);
    co_await parallel_for(first(300), [&](int n) { seen += n; });
  });
  CHECK(sum == 10);
  CHECK(seen == 299 * 300 / 2);
}

BACKENDS_TEST_CASE("an exception of an element is thrown by the loop", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  auto const v = first(1000);
  std::vector<std::string> caught;
  std::atomic<int> done = 0;
  run_on(chosen, [&]() -> eff<void, pure> {
    auto const fails = [&](int n) {
      if (n == 333) throw wrong("333");
      ++done;
      return n;
    };
    try {
      co_await parallel_for(v, fails);
    } catch (wrong const& e) {
      caught.emplace_back(e.what());
    }
    try {
      (void)co_await parallel_reduce(v, 0, std::plus(), fails);
    } catch (wrong const& e) {
      caught.emplace_back(e.what());
    }
    try {
      co_await parallel_for(v, [&](int n) -> eff<void> {
        fails(n);
        co_return;
      });
    } catch (wrong const& e) {
      caught.emplace_back(e.what());
    }
  });
  CHECK(caught == std::vector<std::string>{"333", "333", "333"});
  CHECK(done < 3 * 999);  // at least the rest of its piece is not done
}

BACKENDS_TEST_CASE("after an element has failed its thread begins no other piece", "",
                   on_one_thread, on_sharing<1>, on_stealing<1>) {
  every_frame_dies const check;
  auto const v = first(1000);
  std::vector<int> done;
  run_on(chosen, [&]() -> eff<void, pure> {
    auto const fails = [&](int n) {
      if (n == 333) throw wrong("333");
      done.push_back(n);
      return n;
    };
    for (std::size_t const least : {0UL, 1UL, 2000UL}) try {
        co_await parallel_for(v, fails, grain{least});
      } catch (wrong const&) {
        done.push_back(-1);
      }
    try {
      (void)co_await parallel_reduce(v, 0, std::plus(), fails);
    } catch (wrong const&) {
      done.push_back(-1);
    }
  });
  auto expected = first(333);
  expected.push_back(-1);
  auto const once = expected;
  for (int i = 0; i != 3; ++i) expected.insert(expected.end(), once.begin(), once.end());
  CHECK(done == expected);
}

TEST_CASE("after an element has failed no process begins another piece") {
  every_frame_dies const check;
  auto const v = first(1000);
  int begun = 0;
  std::string caught;
  run_on<on_one_thread>([&]() -> eff<void, yields> {
    auto const fails_later = [&](int n) -> eff<void, proc> {
      ++begun;
      co_await proc::yield{};  // the other pieces begin
      if (n == 0) throw wrong("0");
    };
    try {
      co_await parallel_for(v, fails_later, grain{1});
    } catch (wrong const& e) {
      caught = e.what();
    }
  });
  CHECK(caught == "0");
  CHECK(begun < 100);
}

BACKENDS_TEST_CASE("of several elements that fail at once no exception is lost", "", on_sharing<2>,
                   on_stealing<2>, on_stealing<3>) {
  every_frame_dies const check;
  std::vector<std::string> caught;
  run_on(chosen, [&]() -> eff<void, pure> {
    auto both = first(2);
    std::atomic<int> begun = 0;
    try {
      co_await parallel_for(both, [&](int n) {
        ++begun;
        until([&] { return begun == 2; });
        throw wrong(std::to_string(n));
      });
    } catch (exceptions const& e) {
      for (auto const& f : e.all) try {
          std::rethrow_exception(f.error);
        } catch (wrong const& w) {
          caught.emplace_back(w.what());
        }
    }
  });
  CHECK(caught == std::vector<std::string>{"0", "1"});
}

BACKENDS_TEST_CASE("exceptions from nested halves are thrown together, as of one join", "",
                   on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::size_t told = 0;
  run_on(chosen, [&]() -> eff<void, pure> {
    auto four = first(4);
    std::atomic<int> begun = 0;
    try {
      // The second thread takes another half, which fails as well, in whatever depth that is.
      (void)co_await parallel_reduce(four, 0, std::plus(), [&](int n) -> int {
        ++begun;
        until([&] { return begun >= 2; });
        throw wrong(std::to_string(n));
      });
    } catch (exceptions const& e) {
      for (auto const& f : e.all) try {
          std::rethrow_exception(f.error);
        } catch (wrong const&) {
          ++told;
        }
    }
  });
  CHECK(told == 2);
}

BACKENDS_TEST_CASE("a thread without work takes part of a loop", "", on_sharing<2>, on_stealing<2>,
                   on_stealing<3>) {
  every_frame_dies const check;
  auto v = first(1000);
  std::atomic<int> left = 1000;
  run_on(chosen, [&]() -> eff<void, pure> {
    // The first element ends when other threads have done the other half; the second one when they
    // have done half of the rest.
    co_await parallel_for(
        v,
        [&](int& x) {
          if (x == 0) until([&] { return left <= 500; });
          if (x == 1) until([&] { return left <= 249; });
          x = -1;
          --left;
        },
        grain{1});
  });
  CHECK(std::ranges::count(v, -1) == 1000);
}

TEST_CASE("a parallel loop is explored in all orders of its elements") {
  static std::set<std::vector<int>> orders;
  orders.clear();
  auto const found =
      explore([] { return std::vector<int>(); },
              [](std::vector<int>& v) -> eff<void, pure> {
                co_await parallel_for(std::views::iota(0, 3), [&v](int n) { v.push_back(n); });
              },
              [](std::vector<int> const& v) {
                orders.insert(v);
                return v.size() == 3;
              });
  INFO(found.report());
  CHECK(found.ok());
  CHECK(orders.size() == 6);
}
