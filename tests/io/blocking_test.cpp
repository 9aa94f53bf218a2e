// SPDX-License-Identifier: MIT
#include "weft/io/blocking.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "tests/prelude.hpp"
#include "weft/io/thread_pool.hpp"
#include "weft/sched/tasks/scope.hpp"

/// Work on threads that may block, on every backend.

using children = spawning<proc, blocking_work>;
using program = eff<void, children, proc, blocking_work>;

BACKENDS_TEST_CASE("the result or the exception of a job comes back to the process", "",
                   on_one_thread, in_random_order, on_locked_queue, on_locked_stack, on_sharing<2>,
                   on_stealing<2>) {
  every_frame_dies const check;
  findings found;
  std::thread::id const here = std::this_thread::get_id();
  thread_pool pool(2);
  run_on(
      chosen,
      [&found, here]() -> program {
        int const n = co_await off_thread([](int a, int b) { return a * b; }, 6, 7);
        found.add(std::to_string(n));
        auto const p = co_await off_thread(
            [](std::unique_ptr<std::string> s) {
              *s += '!';
              return s;
            },
            std::make_unique<std::string>("moved in, and out"));
        found.add(*p);
        co_await off_thread([&found] { found.add("void"); });
        std::string kept = "kept";
        co_await off_thread([](std::string& s) { s += " here"; }, std::ref(kept));
        found.add(kept);
        bool const is_off_thread =
            co_await off_thread([here] { return std::this_thread::get_id() != here; });
        found.add(is_off_thread ? "on another thread" : "here");
        try {
          (void)co_await off_thread([]() -> int { throw std::out_of_range("thrown there"); });
        } catch (std::out_of_range const& e) {
          found.add(e.what());
        }
      },
      pool);
  CHECK(found.all() == std::vector<std::string>{"42", "kept here", "moved in, and out!",
                                                "on another thread", "thrown there", "void"});
}

BACKENDS_TEST_CASE("many jobs run on fewer threads, and each result comes back to its process", "",
                   on_one_thread, in_random_order, on_locked_queue, on_locked_stack, on_sharing<2>,
                   on_stealing<2>) {
  every_frame_dies const check;
  static constexpr int many = 300;
  counter right = 0;
  run_on(
      chosen,
      [&right]() -> program {
        auto const asks = [](int n, counter& to) -> program {
          for (int i = 0; i != 3; ++i) {
            int const answer = co_await off_thread([](int x) { return 10 * x; }, n + i);
            if (answer == 10 * (n + i)) ++to;
          }
        };
        for (int n = 0; n != many; ++n) co_await spawn(asks, n, std::ref(right));
      },
      thread_pool(3));
  CHECK(right == 3 * many);
}

BACKENDS_TEST_CASE("other processes run while a job blocks, even if the job waits for them", "",
                   on_one_thread, in_random_order, on_locked_queue, on_locked_stack, on_sharing<2>,
                   on_stealing<2>) {
  every_frame_dies const check;
  std::latch steps(100);
  counter seen = 0;
  thread_pool pool(1);
  run_on(
      chosen,
      [&]() -> program {
        co_await spawn(
            [](std::latch& from) -> program {
              for (int i = 0; i != 100; ++i) {
                from.count_down();
                co_await proc::yield{};
              }
            },
            std::ref(steps));
        seen = co_await off_thread([&steps] {
          steps.wait();
          return 7;
        });
      },
      pool);
  CHECK(seen == 7);
}

BACKENDS_TEST_CASE("jobs end in any order, whatever the order in which they begin", "",
                   on_one_thread, in_random_order, on_locked_queue, on_locked_stack, on_sharing<2>,
                   on_stealing<2>) {
  every_frame_dies const check;
  std::latch second_is_back(1);
  std::string order;
  thread_pool pool(2);
  run_on(
      chosen,
      [&]() -> program {
        auto const first = [](std::latch& until, std::string& to) -> program {
          co_await off_thread([&until] { until.wait(); });
          to += "first ";
        };
        auto const second = [](std::latch& says, std::string& to) -> program {
          co_await off_thread([] {});
          to += "second ";
          says.count_down();
        };
        co_await spawn(first, std::ref(second_is_back), std::ref(order));
        co_await spawn(second, std::ref(second_is_back), std::ref(order));
      },
      pool);
  CHECK(order == "second first ");
}

TEST_CASE("a pool of one thread runs jobs in the order in which they came") {
  every_frame_dies const check;
  std::string order;
  schedule(
      [&order]() -> program {
        for (char c = 'a'; c != 'h'; ++c)
          co_await spawn(
              [](char name, std::string& to) -> program {
                co_await off_thread([name, &to] { to += name; });
              },
              c, std::ref(order));
      },
      thread_pool(1));
  CHECK(order == "abcdefg");
}

BACKENDS_TEST_CASE(
    "a job and its captures are destroyed before its process continues, even if the job throws", "",
    on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  counter alive = 0;
  counter seen = 0;
  run_on(
      chosen,
      [&]() -> program {
        co_await off_thread([](lives const&) {}, lives(alive));
        seen += alive;
        try {
          auto throws = [own = lives(alive)] { throw std::runtime_error("no"); };
          co_await off_thread(std::move(throws));
        } catch (std::runtime_error const&) {
          seen += alive;
        }
      },
      thread_pool(1));
  CHECK(seen == 0);
  CHECK(alive == 0);
}

// ---- cancelled processes and dropped jobs

/// What a detached job owns, and what the test sees of it.
struct of_a_job {
  std::latch runs{1};
  std::latch may_end{1};
  counter alive = 0;
  counter done = 0;
  counter told = 0;
};
BACKENDS_TEST_CASE(
    "a process can be cancelled while its detached job runs, which ends later with what it owns",
    "", on_one_thread, in_random_order, on_locked_queue, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  auto const seen = std::make_shared<of_a_job>();
  {
    thread_pool pool(1);
    auto const what = text_of<std::exception>([&] {
      run_on(
          chosen,
          [&]() -> program {
            auto const waits = [](std::shared_ptr<of_a_job> s) -> program {
              try {
                auto own = std::make_unique<lives>(s->alive);
                co_await off_thread_detached(
                    [](std::shared_ptr<of_a_job> const& of, std::unique_ptr<lives> const&) {
                      of->runs.count_down();
                      of->may_end.wait();
                      ++of->done;
                    },
                    s, std::move(own));
              } catch (cancelled const&) {
                ++s->told;
                throw;
              }
            };
            co_await spawn(waits, seen);
            while (!seen->runs.try_wait()) co_await proc::yield{};
            throw std::runtime_error("enough");
          },
          pool);
    });
    CHECK(what == "enough");
    CHECK(seen->told == 1);
    CHECK(seen->done == 0);
    CHECK(seen->alive == 1);
    seen->may_end.count_down();
  }
  CHECK(seen->done == 1);
  CHECK(seen->alive == 0);
}

// ---- a process does not leave its job behind

using timed_work =
    eff<void, blocking, completions, timing, proc, tasking<blocking, completions, timing, proc>>;

BACKENDS_TEST_CASE("a process whose deadline passes waits for its job, and others run meanwhile",
                   "", on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::latch may_end(1);
  std::string said;
  bool has_run = false;
  thread_pool pool(1);
  run_on(
      chosen,
      [&]() -> timed_work {
        co_await with_scope([&](auto& s) -> timed_work {
          s.start([&]() -> timed_work {
            co_await timing::sleep_for{20ms};  // the job's process may be cancelled by now
            has_run = true;
            may_end.count_down();
          });
          std::atomic<bool> has_begun = false;
          auto const writes = [&](auto&) -> eff<std::string, blocking, completions, timing, proc,
                                                tasking<blocking, completions, timing, proc>> {
            std::string text = "written";
            co_await off_thread([&] {
              has_begun = true;
              may_end.wait();
              text += " to the end";
            });
            co_return text;
          };
          // On a busy machine the first deadlines may pass before the job has begun.
          for (auto patience = 1ms; said.empty(); patience *= 2) try {
              said = co_await with_scope({.timeout = patience}, writes);
            } catch (timed_out const&) {
              if (has_begun) throw;
            }
        });
      },
      pool);
  CHECK(said == "written to the end");
  CHECK(has_run);
}
BACKENDS_TEST_CASE("a process that is cancelled takes back a job that has not begun", "",
                   on_one_thread, in_random_order, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::latch may_end(1);
  counter done = 0;
  counter timed = 0;
  {
    thread_pool pool(1);
    run_on(
        chosen,
        [&]() -> timed_work {
          co_await with_scope([&](auto& s) -> timed_work {
            s.start([&]() -> timed_work { co_await off_thread([&] { may_end.wait(); }); });
            co_await timing::sleep_for{1ms};  // the only thread is busy from now on
            try {
              co_await with_scope({.timeout = 1ms}, [&](auto&) -> timed_work {
                co_await off_thread([&] { ++done; });
              });
            } catch (timed_out const&) {
              ++timed;
            }
            may_end.count_down();
          });
        },
        pool);
  }
  CHECK(timed + done == 1);  // on a slow machine the first job may begin late
}
BACKENDS_TEST_CASE("a failure elsewhere waits for the jobs that run", "", on_one_thread,
                   in_random_order, on_locked_queue, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  std::latch runs(1);
  counter done = 0;
  thread_pool pool(1);
  auto const p = [&]() -> program {
    auto const works = [](std::latch& begun, counter& n) -> program {
      std::string local(100, 'x');
      co_await off_thread([&] {
        begun.count_down();
        for (int i = 0; i != 1000; ++i) std::this_thread::yield();
        local += "y";
        ++n;
      });
    };
    co_await spawn(works, std::ref(runs), std::ref(done));
    while (!runs.try_wait()) co_await proc::yield{};
    throw std::runtime_error("enough");
  };
  CHECK_THROWS_WITH(run_on(chosen, p, pool), "enough");
  CHECK(done == 1);
}

#if defined(__linux__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a child of fork() leaves the pool of its parent alone, and is told so") {
  auto pool = std::make_unique<thread_pool>(1);
  auto const p = []() -> program { co_await off_thread([] {}); };
  schedule(p, *pool);
  pid_t const child = ::fork();
  if (child == 0) {
    bool const is_told = text_of<std::logic_error>([&] {
                           schedule(p, *pool);
                         }).find("after fork()") != std::string::npos;
    pool.reset();
    ::_exit(is_told ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  schedule(p, *pool);
}
#endif

/// Forwards each job and counts it.
class counting_pool : public handler<blocking> {
 public:
  static constexpr bool thread_safe = true;
  counting_pool(thread_pool& pool, counter& n) : pool_(pool), passed_on_(n) {}
  void on(blocking::run r) {
    pool_.on(std::move(r));
    ++passed_on_;
  }

 private:
  thread_pool& pool_;
  counter& passed_on_;
};

BACKENDS_TEST_CASE(
    "jobs that have not begun when the pool ends are dropped, and their processes are told", "",
    on_one_thread, in_random_order, on_locked_queue, on_sharing<2>, on_stealing<2>) {
  every_frame_dies const check;
  static constexpr int waiting = 5;
  counter alive = 0;
  counter passed_on = 0;
  counter done = 0;
  std::latch dropped(waiting);
  auto pool = std::make_unique<thread_pool>(1);
  counting_pool counts(*pool, passed_on);
  std::thread ends([&pool, &passed_on] {
    until([&passed_on] { return passed_on == 1 + waiting; });
    pool.reset();
  });
  run_on(
      chosen,
      [&]() -> program {
        std::latch begun(1);
        auto const runs = [](std::latch& is_begun, std::latch& until_all, counter& n) -> program {
          co_await off_thread([&] {
            is_begun.count_down();
            until_all.wait();
            ++n;
          });
        };
        auto const waits = [](std::latch& says, counter& all, counter& n) -> program {
          try {
            auto adds = [&n, own = lives(all)] { n += 100; };
            co_await off_thread(std::move(adds));
          } catch (completion_dropped const&) {
            says.count_down();
          }
        };
        co_await spawn(runs, std::ref(begun), std::ref(dropped), std::ref(done));
        while (!begun.try_wait()) co_await proc::yield{};
        for (int i = 0; i != waiting; ++i)
          co_await spawn(waits, std::ref(dropped), std::ref(alive), std::ref(done));
        while (!dropped.try_wait()) co_await proc::yield{};
      },
      counts);
  ends.join();
  CHECK(done == 1);
  CHECK(alive == 0);
}

TEST_CASE("a pool of no threads is refused") {
  CHECK_THROWS_WITH(thread_pool(0), Contains("a thread_pool of no threads"));
}

TEST_CASE("a pool serves two schedulers at once, and may be destroyed before them") {
  every_frame_dies const check;
  counter sum = 0;
  std::optional<thread_pool> pool(std::in_place, 2U);
  auto const asks = [&sum]() -> program {
    for (int i = 0; i != 100; ++i) {
      int const n = co_await off_thread([] { return 1; });
      sum += n;
    }
  };
  scheduler<> a;
  scheduler<sharing_among<2>> b;
  a.start(asks, *pool);
  b.start(asks, *pool);
  std::thread other([&b] { b.run(); });
  a.run();
  other.join();
  pool.reset();
  CHECK(sum == 200);
}

TEST_CASE("a process that has run a job off its thread cannot fork") {
  auto const what = text_of<std::exception>([] {
    schedule(
        []() -> program {
          co_await off_thread([] {});
          co_await proc::fork{};
        },
        blocking_at_once());
  });
  CHECK_THAT(what, Contains("weft::blocking::run at"));
}

// ---- in tests

TEST_CASE("explore visits every schedule if jobs run at once") {
  for (auto const grain : {granularity::cooperative, granularity::parallel}) {
    every_frame_dies const check;
    auto const found = explore(
        {.granularity = grain, .progress = progress::never}, [] { return std::string(); },
        [](std::string& to) -> program {
          auto const asks = [](char name, std::string& all) -> program {
            int const n = co_await off_thread([] { return 1; });
            all += static_cast<char>(name + n);
          };
          co_await spawn(asks, 'a', std::ref(to));
          co_await spawn(asks, 'x', std::ref(to));
        },
        [](std::string const& s) { return s; }, [](std::string&) { return blocking_at_once(); });
    CHECK(found.ok());
    CHECK(found.complete);
    std::vector<std::string> names;
    for (auto const& o : found.outcomes) names.push_back(o.result.text);
    std::ranges::sort(names);
    CHECK(names == std::vector<std::string>{"by", "yb"});
  }
}
