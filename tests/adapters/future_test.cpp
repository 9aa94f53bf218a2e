// SPDX-License-Identifier: MIT
#include "weft/adapters/future.hpp"

#include "tests/prelude.hpp"
#include "weft/io/thread_pool.hpp"

/// Fulfils the promise, but only once the other process has run.
eff<void, proc> keeps(std::promise<int>& to, std::vector<int>& order) {
  co_await proc::yield{};
  order.push_back(1);
  to.set_value(42);
}
eff<void, blocking_work> waits(std::future<int> f, std::vector<int>& order) {
  int const n = co_await future_value(std::move(f));
  order.push_back(n);
}
eff<void, spawning<proc, blocking_work>> both(std::promise<int>& to, std::vector<int>& order) {
  co_await spawn(waits, to.get_future(), std::ref(order));
  co_await spawn(keeps, std::ref(to), std::ref(order));
}

BACKENDS_TEST_CASE("a process waits for a future while another one runs, which keeps the promise",
                   "", on_one_thread, on_sharing<2>) {
  every_frame_dies const check;
  std::promise<int> to;
  std::vector<int> order;
  run_on(chosen, [&] { return both(to, order); }, thread_pool(1));
  CHECK(order == std::vector{1, 42});
}

eff<void, timing> looks(std::future<int> f, std::vector<int>& order) {
  int const n = co_await future_value(std::move(f), 1us);
  order.push_back(n);
}
eff<void, spawning<proc, timing>> both_looking(std::promise<int>& to, std::vector<int>& order) {
  co_await spawn(looks, to.get_future(), std::ref(order));
  co_await spawn(keeps, std::ref(to), std::ref(order));
}

BACKENDS_TEST_CASE("a process looks for a future again and again, and others run in between", "",
                   on_one_thread, on_sharing<2>) {
  every_frame_dies const check;
  std::promise<int> to;
  std::vector<int> order;
  run_on(chosen, [&] { return both_looking(to, order); });
  CHECK(order == std::vector{1, 42});
}

template <class T>
std::future<T> failed() {
  std::promise<T> to;
  to.set_exception(std::make_exception_ptr(std::runtime_error("of the promise")));
  return to.get_future();
}

TEST_CASE("the exception of a future is thrown where a process waits for it") {
  every_frame_dies const check;
  std::vector<std::string> found;
  auto const program = [&found]() -> eff<void, blocking_work, timing> {
    try {
      co_await future_value(failed<void>());
    } catch (std::runtime_error const& e) {
      found.emplace_back(e.what());
    }
    try {
      (void)co_await future_value(failed<int>(), 1ms);
    } catch (std::runtime_error const& e) {
      found.emplace_back(e.what());
    }
    std::future<int> none;
    try {
      (void)co_await future_value(std::move(none));
    } catch (std::future_error const& e) {
      found.emplace_back("no state");
    }
  };
  schedule(program, thread_pool(1));
  CHECK(found == std::vector<std::string>{"of the promise", "of the promise", "no state"});
}

TEST_CASE("a shared future is waited for by several processes, and a deferred one runs elsewhere") {
  every_frame_dies const check;
  int sum = 0;
  std::thread::id where;
  auto const program = [&]() -> eff<void, blocking_work> {
    std::promise<int> to;
    to.set_value(20);
    std::shared_future<int> const both = to.get_future().share();
    sum += co_await future_value(both);
    sum += co_await future_value(both);
    auto deferred = std::async(std::launch::deferred, [&where] {
      where = std::this_thread::get_id();
      return 2;
    });
    sum += co_await future_value(std::move(deferred));
  };
  schedule(program, thread_pool(1));
  CHECK(sum == 42);
  CHECK(where != std::this_thread::get_id());
}

eff<void, timing> looks_in_vain(std::future<int> f, int& cancelled_ones) {
  try {
    (void)co_await future_value(std::move(f), 1ms);
  } catch (cancelled const&) {
    ++cancelled_ones;
    throw;
  }
}
eff<void, blocking_work> waits_in_vain(std::promise<int>& late, int& cancelled_ones) {
  try {
    (void)co_await future_value(late.get_future());
  } catch (cancelled const&) {
    ++cancelled_ones;
    late.set_value(1);  // else the thread of the pool would wait for ever
    throw;
  }
}
eff<void, proc> fails() {
  co_await proc::yield{};
  throw std::runtime_error("enough");
}

TEST_CASE("a process that is cancelled stops waiting for a future that is not ready") {
  every_frame_dies const check;
  std::promise<int> never, late;
  int cancelled_ones = 0;
  auto const program = [&]() -> eff<void, spawning<proc, timing, blocking_work>> {
    co_await spawn(looks_in_vain, never.get_future(), std::ref(cancelled_ones));
    co_await spawn(waits_in_vain, std::ref(late), std::ref(cancelled_ones));
    co_await spawn(fails);
  };
  CHECK_THROWS_WITH(schedule(program, thread_pool(1)), "enough");
  CHECK(cancelled_ones == 2);
}
