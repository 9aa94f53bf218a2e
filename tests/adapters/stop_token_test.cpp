// SPDX-License-Identifier: MIT
#include "weft/adapters/stop_token.hpp"

#include "tests/prelude.hpp"
#include "weft/io/thread_pool.hpp"

eff<void, completions> waits(std::stop_token t, std::vector<int>& order) {
  co_await stop_requested(std::move(t));
  order.push_back(2);
}
eff<void, proc> requests(std::stop_source& s, std::vector<int>& order) {
  co_await proc::yield{};
  order.push_back(1);
  s.request_stop();
}
eff<void, spawning<proc, completions>> both(std::stop_source& s, std::vector<int>& order) {
  co_await spawn(waits, s.get_token(), std::ref(order));
  co_await spawn(requests, std::ref(s), std::ref(order));
}

BACKENDS_TEST_CASE("a process waits until a stop is requested", "", on_one_thread, on_sharing<2>) {
  every_frame_dies const check;
  std::stop_source s;
  std::vector<int> order;
  run_on(chosen, [&] { return both(s, order); });
  CHECK(order == std::vector{1, 2});
}

TEST_CASE("a stop that was requested before is not waited for, and another thread may request it") {
  every_frame_dies const check;
  std::stop_source before;
  before.request_stop();
  int times = 0;
  auto const program = [&]() -> eff<void, completions> {
    co_await stop_requested(before.get_token());
    ++times;
    std::stop_source later;
    std::jthread const other([&later] { later.request_stop(); });
    co_await stop_requested(later.get_token());
    ++times;
  };
  schedule(program);
  CHECK(times == 2);
}

eff<void, completions> waits_in_vain(std::stop_token t) { co_await stop_requested(std::move(t)); }
eff<void, proc> fails() {
  co_await proc::yield{};
  throw std::runtime_error("enough");
}

TEST_CASE("a wait for a stop that is cancelled leaves no callback behind") {
  every_frame_dies const check;
  std::stop_source s;
  auto const program = [&]() -> eff<void, spawning<proc, completions>> {
    co_await spawn(waits_in_vain, s.get_token());
    co_await spawn(fails);
  };
  CHECK_THROWS_WITH(schedule(program), "enough");
  CHECK(s.request_stop());
}

void runs_until_stopped(std::stop_token const& t, std::latch& begun, bool& has_learned) {
  begun.count_down();
  std::latch stopped(1);
  auto const counts = [&stopped] { stopped.count_down(); };
  std::stop_callback const on_stop(t, counts);
  stopped.wait();
  has_learned = true;
}
eff<void, blocking_work> asks(std::latch& begun, bool& has_learned) {
  co_await off_thread_until_cancelled(runs_until_stopped, std::ref(begun), std::ref(has_learned));
}
eff<void, proc> fails_then(std::latch& begun) {
  begun.wait();
  throw std::runtime_error("enough");
  co_return;
}

TEST_CASE("a function off the thread learns that its caller was cancelled") {
  every_frame_dies const check;
  std::latch begun(1);
  bool has_learned = false;
  {
    thread_pool pool(1);
    auto const program = [&]() -> eff<void, spawning<proc, blocking_work>> {
      co_await spawn(asks, std::ref(begun), std::ref(has_learned));
      co_await spawn(fails_then, std::ref(begun));
    };
    CHECK_THROWS_WITH(schedule(program, pool), "enough");
  }
  CHECK(has_learned);
}

TEST_CASE("a function off the thread that is not cancelled gives its result, without a stop") {
  every_frame_dies const check;
  std::string got;
  auto const program = [&got]() -> eff<void, blocking_work> {
    auto const joins = [](std::stop_token const& t, std::string a, std::string const& b) {
      return t.stop_requested() ? "stopped" : std::move(a) + b;
    };
    got = co_await off_thread_until_cancelled(joins, std::string("a"), std::string("b"));
  };
  schedule(program, thread_pool(1));
  CHECK(got == "ab");
}
