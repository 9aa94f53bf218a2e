// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/commands.hpp"
#include "weft/sched/commands/commands.hpp"

/// Commands that other threads answer, on every backend.

using program = eff<void, spawning<proc, commands<twice>>, proc, commands<twice>>;

/// Whether `f` ends as `workers` answer it.
eff<bool, commands<twice>> is_right(int n, in_flight<int> f) {
  try {
    int const answer = co_await f.wait();
    co_return n % 10 < 8 && answer == 2 * n;
  } catch (int number) {
    co_return n % 10 == 8 && number == n;
  } catch (command_dropped const& e) {
    co_return n % 10 == 9 && e.tag() == f.tag();
  }
}

eff<void, commands<twice>> asks(int n, std::reference_wrapper<counter> right) {
  auto f = co_await issue(twice(n));
  bool const it_is = co_await is_right(n, std::move(f));
  right.get() += it_is;
}

BACKENDS_TEST_CASE(
    "ten thousand commands are in flight, answered in any order, and each has its own answer", "",
    on_one_thread, on_locked_queue, on_locked_stack, in_random_order, on_sharing<2>,
    on_stealing<2>) {
  every_frame_dies const check;
  constexpr int many = 10000;
  counter right = 0;
  desk_of<twice> desk;
  std::thread answering([&desk] {
    until([&] { return desk.size() == many; });
    auto all = desk.take_all();
    std::shuffle(all.begin(), all.end(), std::mt19937(7));
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t != 4; ++t)
      threads.emplace_back([&all, t] {
        for (std::size_t i = t; i < all.size(); i += 4) {
          auto& [asked, answer] = all[i];
          switch (asked.number % 10) {
            case 8:
              answer.fail(std::make_exception_ptr(asked.number));
              break;
            case 9:
              (void)desk_of<twice>::entry(std::move(all[i]));
              break;
            default:
              answer.complete(2 * asked.number);
          }
        }
      });
    for (auto& t : threads) t.join();
  });
  run_on(
      chosen,
      [&right]() -> program {
        for (int i = 0; i != many; ++i) co_await spawn(asks, i, std::ref(right));
      },
      thread_safe_dispatchers{puts_on(desk)});
  answering.join();
  CHECK(right == many);
}

/// Threads that answer `twice` in any order: with the answer, an error, or by dropping the reply.
class workers {
 public:
  workers(unsigned threads, unsigned seed) {
    for (unsigned i = 0; i != threads; ++i)
      threads_.emplace_back([this, seed, i] { work(dice(seed * 31 + i)); });
  }
  workers(workers const&) = delete;
  workers& operator=(workers const&) = delete;
  ~workers() {
    {
      std::lock_guard const lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    for (auto& t : threads_) t.join();
  }
  /// Called from several threads at once.
  void operator()(twice c, reply<int> r) {
    {
      std::lock_guard const lock(mutex_);
      asked_.push_back({c, std::move(r)});
    }
    changed_.notify_one();
  }

 private:
  struct entry {
    twice asked;
    reply<int> answer;
  };
  void work(dice roll) {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_over_ || !asked_.empty(); });
      if (asked_.empty()) return;
      auto const any =
          asked_.begin() + static_cast<std::ptrdiff_t>(roll(static_cast<unsigned>(asked_.size())));
      std::swap(*any, asked_.front());
      entry e = std::move(asked_.front());
      asked_.pop_front();
      lock.unlock();
      switch (e.asked.number % 10) {
        case 8:
          e.answer.fail(std::make_exception_ptr(e.asked.number));
          break;
        case 9:
          break;  // dropped
        default:
          e.answer.complete(2 * e.asked.number);
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<entry> asked_;  // guarded by mutex_
  bool is_over_ = false;     // guarded by mutex_
  std::vector<std::thread> threads_;
};

/// Asks for several numbers whose commands are in flight at once.
eff<void, proc, commands<twice>> asks_some(int n, std::reference_wrapper<counter> right) {
  auto a = co_await issue(twice(n));
  auto b = co_await issue(twice(n + 1));
  if (n % 3 == 0) co_await proc::yield{};
  auto c = co_await issue(twice(n + 2));
  bool const c_is = co_await is_right(n + 2, std::move(c));
  bool const a_is = co_await is_right(n, std::move(a));
  bool const b_is = co_await is_right(n + 1, std::move(b));
  right.get() += a_is + b_is + c_is;
}

BACKENDS_TEST_CASE("answers from other threads race with the waits, and none is lost or mixed up",
                   "", on_one_thread, on_locked_queue, on_locked_stack, in_random_order,
                   on_sharing<1>, on_sharing<2>, on_stealing<2>) {
  constexpr int many = 30;
  seeds::as_many_as(rounds(200)).for_each([&](unsigned seed) {
    every_frame_dies const check;
    counter right = 0;
    {
      workers answering(2, seed);
      run_on(
          chosen,
          [&right]() -> program {
            for (int i = 0; i != many; i += 3) co_await spawn(asks_some, i, std::ref(right));
          },
          thread_safe_dispatchers{std::ref(answering)});
    }
    if (right != many) FAIL("seed " << seed << ": " << right << " of " << many);
  });
}

BACKENDS_TEST_CASE("dispatchers that are synchronized are called one at a time", "", on_sharing<2>,
                   on_stealing<2>) {
  every_frame_dies const check;
  int calls = 0;  // not atomic: ThreadSanitizer checks
  counter right = 0;
  run_on(
      chosen,
      [&right]() -> program {
        for (int i = 0; i != 1000; ++i) co_await spawn(asks, 10 * i, std::ref(right));
      },
      synchronized(dispatchers{[&calls](twice c, reply<int> r) {
        ++calls;
        r.complete(2 * c.number);
      }}));
  CHECK(calls == 1000);
  CHECK(right == 1000);
}

BACKENDS_TEST_CASE("answers that come while processes are cancelled are taken, or have no effect",
                   "", on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>,
                   on_stealing<2>) {
  for (int round = 0; round != rounds(300); ++round) {
    every_frame_dies const check;
    desk_of<twice> desk;
    counter right = 0;
    std::thread outside([&] {
      until([&] { return desk.size() == 8; });
      for (auto& [asked, answer] : desk.take_all()) answer.complete(2 * asked.number);
    });
    auto const p = [&]() -> program {
      for (int i = 0; i != 8; ++i) co_await spawn(asks, i, std::ref(right));
      while (desk.size() != 8 && right == 0) co_await proc::yield{};
      throw std::runtime_error("as asked");
    };
    CHECK_THROWS_WITH(run_on(chosen, p, thread_safe_dispatchers{puts_on(desk)}), "as asked");
    outside.join();
    if (right > 8) FAIL(right);
  }
}

TEMPLATE_TEST_CASE("commands of a scheduler that is shut down may be answered later", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_stealing<2>) {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    desk_of<twice> desk;
    counter right = 0;
    thread_safe_dispatchers d{puts_on(desk)};
    {
      auto s = scheduler_on<TestType>();
      s.start(
          TestType::how(),
          [&]() -> program {
            for (int i = 0; i != 5; ++i) co_await spawn(asks, i, std::ref(right));
          },
          d);
      run_apart running(s);
      until([&] { return desk.size() == 5; });
      auto const report = s.shut_down(round % 2 ? passed : far_away, "it is late");
      running.join();
      if (round % 2 == 0 && !report.in_time) FAIL("they had time");
      desk.take().answer.complete(0);  // after shutting down
    }
    for (auto& [asked, answer] : desk.take_all())  // after the scheduler
      answer.complete(asked.number);
    if (right != 0) FAIL(right);
  }
}

BACKENDS_TEST_CASE("a process that waits for an answer is cancelled by a stop request", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_stealing<2>) {
  every_frame_dies const check;
  desk_of<twice> desk;
  counter right = 0;
  std::stop_source stop;
  std::thread outside([&] {
    until([&] { return desk.size() == 1; });
    stop.request_stop();
  });
  bool was_cancelled = false;
  try {
    run_on(
        chosen, options(false, stop.get_token()), [&]() -> program { co_await asks(1, right); },
        thread_safe_dispatchers{puts_on(desk)});
  } catch (cancelled const&) {
    was_cancelled = true;
  }
  outside.join();
  CHECK(was_cancelled);
  CHECK(right == 0);
}
