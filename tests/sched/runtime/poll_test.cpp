// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/waiting_programs.hpp"

/// Schedulers that another event loop polls.

TEMPLATE_TEST_CASE("poll() runs what is ready, and says that no process is left", "", on_one_thread,
                   in_random_order) {
  every_frame_dies const check;
  int n = 0;
  auto s = scheduler_on<TestType>();
  s.start(TestType::how(), [&]() -> eff<void, proc> {
    for (; n != 10; ++n) co_await proc::yield{};
  });
  CHECK(s.poll() == poll_result::ended);
  CHECK(n == 10);
  CHECK(s.poll() == poll_result::ended);
}

TEST_CASE("poll() returns when its steps are used up") {
  every_frame_dies const check;
  int n = 0;
  scheduler<> s;
  s.start([&]() -> eff<void, proc> {
    for (;; ++n) co_await proc::yield{};
  });
  CHECK(s.poll(1) == poll_result::ready);
  CHECK(n == 0);
  CHECK(s.poll(10) == poll_result::ready);
  CHECK(n == 10);
  CHECK(s.poll(0) == poll_result::ready);
  CHECK(n == 10);
}

/// The thread of an event loop: it sleeps until it is called.
class event_loop {
 public:
  void call() {
    {
      std::lock_guard const lock(mutex_);
      ++calls_;
    }
    called_.notify_one();
  }
  /// Waits for a call, and counts it off.
  void wait() {
    std::unique_lock lock(mutex_);
    called_.wait(lock, [this] { return calls_ != 0; });
    --calls_;
  }
  /// The number of calls that were not waited for.
  [[nodiscard]] int calls() {
    std::lock_guard const lock(mutex_);
    return calls_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable called_;
  int calls_ = 0;
};

eff<void, completions> adds_one(std::reference_wrapper<completion<int>> c,
                                std::reference_wrapper<int> to) {
  to.get() += co_await c.get().wait();
}

TEMPLATE_TEST_CASE("an event calls the loop back once", "", on_one_thread, in_random_order) {
  every_frame_dies const check;
  event_loop loop;
  completer<int> first;
  completer<int> second;
  completion<int> a = first.get_completion();
  completion<int> b = second.get_completion();
  int sum = 0;
  auto s = scheduler_on<TestType>();
  s.on_wakeup([&] { loop.call(); });
  s.start(TestType::how(), [&]() -> eff<void, spawning<completions>, completions> {
    co_await spawn(adds_one, std::ref(b), std::ref(sum));
    sum += co_await a.wait();
  });
  REQUIRE(s.poll() == poll_result::waiting);
  CHECK_FALSE(s.next_deadline());
  CHECK(loop.calls() == 0);
  std::thread([&] {
    first.complete(1);
    second.complete(2);
  }).join();
  CHECK(loop.calls() == 1);
  CHECK(s.poll() == poll_result::ended);
  CHECK(sum == 3);
}

using waiting_program = eff<void, completions, proc, timing>;

/// Runs a scheduler to its end, as a loop that has nothing else to do.
template <class Scheduler>
void run_in(event_loop& loop, Scheduler& s) {
  for (;;) switch (s.poll()) {
      case poll_result::ended:
        return;
      case poll_result::waiting:
        loop.wait();
        break;
      case poll_result::ready:
        break;
    }
}

TEST_CASE("no event is lost, whenever it comes") {
  every_frame_dies const check;
  event_loop loop;
  event_loop other_loop;
  std::optional<completer<int>> now;
  int const n = rounds(20'000);
  int sum = 0;
  scheduler<> s;
  s.on_wakeup([&] { loop.call(); });
  s.start([&]() -> waiting_program {
    for (int i = 0; i != n; ++i) {
      now.emplace();
      auto c = now->get_completion();
      other_loop.call();
      sum += co_await c.wait();
    }
  });
  std::thread other([&] {
    for (int i = 0; i != n; ++i) {
      other_loop.wait();
      std::exchange(now, std::nullopt)->complete(1);
    }
  });
  run_in(loop, s);
  other.join();
  CHECK(sum == n);
}

TEST_CASE("a loop learns when the next process is due") {
  every_frame_dies const check;
  scheduler<> s;
  instant const due = instant::clock::now() + 24h;
  s.start([&]() -> waiting_program { co_await timing::sleep_until(due); });
  CHECK_FALSE(s.next_deadline());
  REQUIRE(s.poll() == poll_result::waiting);
  CHECK(s.next_deadline() == due);
}

TEST_CASE("poll() wakes processes that are due, and returns when the others are not") {
  every_frame_dies const check;
  scheduler<> s;
  bool has_slept = false;
  s.start([&]() -> waiting_program {
    co_await timing::sleep_until(instant::clock::now() - 1s);
    has_slept = true;
    co_await timing::sleep_for(24h);
  });
  CHECK(s.poll() == poll_result::waiting);
  CHECK(has_slept);
}

TEST_CASE("poll() advances virtual time") {
  every_frame_dies const check;
  scheduler<> s;
  s.start({.virtual_time = true}, []() -> waiting_program { co_await timing::sleep_for(24h); });
  CHECK(s.poll(1) == poll_result::ready);
  CHECK_FALSE(s.next_deadline());
  CHECK(s.poll() == poll_result::ended);
}

TEST_CASE("a process that is submitted calls the loop back, and so does the last submitter") {
  every_frame_dies const check;
  event_loop loop;
  bool was_run = false;
  scheduler<> s;
  s.on_wakeup([&] { loop.call(); });
  s.start([]() -> eff<void, proc> { co_return; });
  std::optional outside(s.submitter<proc>());
  REQUIRE(s.poll() == poll_result::waiting);
  std::thread([&] {
    outside->submit(
        [](std::reference_wrapper<bool> b) -> eff<void, proc> {
          b.get() = true;
          co_return;
        },
        std::ref(was_run));
  }).join();
  CHECK(loop.calls() == 1);
  REQUIRE(s.poll() == poll_result::waiting);
  CHECK(was_run);
  outside.reset();
  CHECK(loop.calls() == 2);
  CHECK(s.poll() == poll_result::ended);
}

/// A scheduler in a loop, and a value from outside that its process adds to `sum`.
struct waits_for_a_value {
  /// Returns after the first poll: the process waits.
  void start(schedule_options how = {}) {
    s.on_wakeup([this] { loop.call(); });
    s.start(std::move(how), [this]() -> waiting_program { sum += co_await value.wait(); });
    REQUIRE(s.poll() == poll_result::waiting);
  }
  event_loop loop;
  completer<int> source;
  completion<int> value = source.get_completion();
  int sum = 0;
  scheduler<> s;
};

TEST_CASE("a stop that is requested between two polls calls the loop back") {
  every_frame_dies const check;
  std::stop_source stop;
  waits_for_a_value w;
  w.start({.stop = stop.get_token()});
  std::thread([&] { stop.request_stop(); }).join();
  CHECK(w.loop.calls() == 1);
  CHECK_THROWS_AS(w.s.poll(), cancelled);
  CHECK(w.s.poll() == poll_result::ended);
}

TEST_CASE("a stop that was requested before the first poll is found") {
  every_frame_dies const check;
  completer<int> source;
  completion<int> c = source.get_completion();
  int sum = 0;
  std::stop_source stop;
  stop.request_stop();
  scheduler<> s;
  s.start({.stop = stop.get_token()}, [&]() -> waiting_program {
    co_await proc::yield{};
    sum += co_await c.wait();
  });
  CHECK_THROWS_AS(s.poll(), cancelled);
  CHECK(sum == 0);
}

TEST_CASE("a shutdown between two polls returns at once, and calls the loop back") {
  every_frame_dies const check;
  event_loop loop;
  completer<int> source;
  completion<int> c = source.get_completion();
  int sum = 0;
  bool was_cancelled = false;
  scheduler<> s;
  s.on_wakeup([&] { loop.call(); });
  s.start([&]() -> waiting_program {
    try {
      sum += co_await c.wait();
    } catch (cancelled const&) {
      was_cancelled = true;
      throw;
    }
  });
  REQUIRE(s.poll() == poll_result::waiting);
  CHECK_FALSE(s.shut_down(far_away).in_time);  // by the loop's own thread
  CHECK(loop.calls() == 1);
  CHECK(s.poll() == poll_result::ended);
  CHECK(was_cancelled);
}

TEST_CASE("poll() throws what a process throws, and reports a deadlock") {
  every_frame_dies const check;
  SECTION("an exception") {
    scheduler<> s;
    s.start([]() -> eff<void, proc> {
      co_await proc::yield{};
      throw std::runtime_error("broken");
    });
    CHECK_THROWS_WITH(s.poll(), "broken");
  }
  SECTION("a deadlock") {
    gate g;
    scheduler<> s;
    s.start([&]() -> eff<void, syncing> { co_await syncing::wait{g}; });
    CHECK_THROWS_AS(s.poll(), deadlock);
  }
}

TEST_CASE("a scheduler that was polled may be run or stepped, and sleeps then") {
  every_frame_dies const check;
  waits_for_a_value w;
  w.start();
  std::thread other([&] { w.source.complete(5); });
  SECTION("run") { w.s.run(); }
  SECTION("step") {
    while (w.s.step()) {
    }
  }
  other.join();
  CHECK(w.sum == 5);
  CHECK(w.loop.calls() <= 1);
}

TEST_CASE("a loop that was taken off is not called") {
  every_frame_dies const check;
  waits_for_a_value w;
  w.start();
  w.s.on_wakeup({});
  w.source.complete(1);
  CHECK(w.s.poll() == poll_result::ended);
  CHECK(w.sum == 1);
  CHECK(w.loop.calls() == 0);
}

TEST_CASE("the loop of a scheduler that has ended is not called") {
  every_frame_dies const check;
  event_loop loop;
  completer<int> source;
  auto value = source.get_completion();
  {
    scheduler<> s;
    s.on_wakeup([&] { loop.call(); });
    s.start([&]() -> waiting_program { (void)co_await value.wait(); });
    REQUIRE(s.poll() == poll_result::waiting);
  }
  source.complete(1);
  CHECK(loop.calls() == 0);
}

TEST_CASE("a process cannot poll its own scheduler") {
  every_frame_dies const check;
  scheduler<> s;
  s.start([&]() -> eff<void, proc> {
    CHECK_THROWS_AS(s.poll(), std::logic_error);
    CHECK_THROWS_AS(s.on_wakeup({}), std::logic_error);
    co_return;
  });
  CHECK(s.poll() == poll_result::ended);
}

TEST_CASE("two schedulers take turns in one loop, and wake one another") {
  every_frame_dies const check;
  event_loop loop;
  std::vector<int> order;
  std::optional<completer<int>> there(std::in_place);
  std::optional<completer<int>> back(std::in_place);
  completion<int> to_second = there->get_completion();
  completion<int> to_first = back->get_completion();
  scheduler<> first;
  scheduler<> second;
  first.on_wakeup([&] { loop.call(); });
  second.on_wakeup([&] { loop.call(); });
  first.start([&]() -> waiting_program {
    there->complete(1);
    order.push_back(co_await to_first.wait());
  });
  second.start([&]() -> waiting_program {
    order.push_back(co_await to_second.wait());
    back->complete(2);
  });
  REQUIRE(second.poll() == poll_result::waiting);
  REQUIRE(first.poll() == poll_result::waiting);
  CHECK(loop.calls() == 1);
  CHECK(second.poll() == poll_result::ended);
  CHECK(loop.calls() == 2);
  CHECK(first.poll() == poll_result::ended);
  CHECK(order == std::vector{1, 2});
}
