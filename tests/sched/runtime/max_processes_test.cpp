// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/waiting_programs.hpp"
#include "weft/testing/detail/one_run.hpp"

/// Schedulers with a maximum number of processes.

TEST_CASE("a checkpoint counts the processes that it had, and has room for others") {
  every_frame_dies const check;
  int ends = 0;
  scheduler<> s;
  s.start({.max_processes = 3, .when_full = overflow_policy::fail}, [&ends]() -> eff<void, proc> {
    co_await proc::fork{};
    co_await proc::yield{};
    try {
      co_await proc::fork{};
    } catch (too_many_processes const&) {
    }
    ++ends;
  });
  s.step();
  auto const here = s.checkpoint();
  s.run();
  CHECK(ends == 3);
  s.run(here);
  CHECK(ends == 6);
}

template <class Where>
typename Where::options room_for(std::size_t most, overflow_policy when_full, bool log = false,
                                 std::stop_token stop = {}) {
  auto o = Where::how(log, std::move(stop));
  o.max_processes = most;
  o.when_full = when_full;
  return o;
}

/// The number of processes that have begun: alive now, at most, and in all.
struct crowd {
  counter now = 0;
  counter most = 0;
  counter all = 0;
};
class in_crowd {
 public:
  explicit in_crowd(crowd& c) : crowd_(c) {
    ++crowd_.all;
    int const n = ++crowd_.now;
    int seen = crowd_.most;
    while (seen < n && !crowd_.most.compare_exchange_weak(seen, n)) {
    }
  }
  in_crowd(in_crowd const&) = delete;
  in_crowd& operator=(in_crowd const&) = delete;
  ~in_crowd() { --crowd_.now; }

 private:
  crowd& crowd_;
};
step joins(crowd& c) {
  in_crowd const here(c);
  co_await proc::yield{};
  co_await proc::yield{};
}

step waits(gate& at, counter& n) {
  ++n;
  co_await syncing::wait{at};
}

TEMPLATE_TEST_CASE("a spawn beyond the maximum throws, and its process may continue", "",
                   on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  findings found;
  crowd c;
  run_on<TestType>(room_for<TestType>(3, overflow_policy::fail), [&]() -> program {
    gate g;
    counter begun = 0;
    for (int i = 0; i != 5; ++i) try {
        co_await spawn(waits, std::ref(g), std::ref(begun));
      } catch (too_many_processes const& e) {
        found.add(e.what());
      }
    while (g.waiting() != 2) co_await proc::yield{};
    co_await syncing::wake{g, 2};
    // When they have ended there is room again.
    for (int done = 0; done != 2;) {
      bool is_full = false;
      try {
        co_await spawn(joins, std::ref(c));
        ++done;
      } catch (too_many_processes const&) {
        is_full = true;
      }
      if (is_full) co_await proc::yield{};
    }
  });
  REQUIRE(found.all().size() == 3);
  CHECK_THAT(found.all()[0], Contains("weft::spawning<") && Contains("::start at ") &&
                                 Contains("max_processes_test.cpp:") && Contains("of process 1:") &&
                                 Contains("allows, 3"));
  CHECK(c.all == 2);
}

TEMPLATE_TEST_CASE("a fork beyond the maximum throws, and its process stays one", "", on_one_thread,
                   on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    findings found;
    counter ended = 0;
    run_on<TestType>(room_for<TestType>(3, overflow_policy::fail, true), [&]() -> eff<void, proc> {
      bool is_full = false;
      for (int i = 0; i != 4 && !is_full; ++i) try {
          co_await proc::fork{};
        } catch (too_many_processes const& e) {
          found.add(e.what());
          is_full = true;
        }
      co_await proc::yield{};
      ++ended;
    });
    REQUIRE_FALSE(found.all().empty());
    CHECK_THAT(found.all()[0], Contains("weft::proc::fork at ") && Contains("of process 1"));
    if (ended < 3) FAIL("round " << round);
  }
}

TEMPLATE_TEST_CASE(
    "with overflow_policy::wait the maximum is never exceeded, and all processes have their turn",
    "", on_one_thread, on_locked_queue, on_locked_stack, on_sharing<1>, on_sharing<2>,
    on_sharing<8>, on_stealing<3>) {
  for (int most : {2, 3, 10, 1000}) {
    every_frame_dies const check;
    int const n = rounds(2000);
    crowd c;
    auto const spawner = [](crowd& to, int times) -> eff<void, spawning<proc, syncing>> {
      for (int i = 0; i != times; ++i) co_await spawn(joins, std::ref(to));
    };
    run_on<TestType>(room_for<TestType>(static_cast<std::size_t>(most), overflow_policy::wait),
                     [&]() -> program {
                       if (most > 3) co_await spawn(spawner, std::ref(c), n);
                       for (int i = 0; i != n; ++i) co_await spawn(joins, std::ref(c));
                     });
    CHECK(c.all == (most > 3 ? 2 : 1) * n);
    CHECK(c.most <= most);
    if (most == 10 && std::is_same_v<TestType, on_one_thread>) CHECK(c.most > 5);
    CHECK(c.now == 0);
  }
}

TEMPLATE_TEST_CASE("the longest waiter for room gets it first", "", on_one_thread,
                   on_locked_queue) {
  every_frame_dies const check;
  std::string order;
  // Four spawners, which take all the room.
  auto const spawner = [](std::string& to, char name) -> program {
    auto const says = [](std::string& all, char who) -> step {
      all += who;
      co_return;
    };
    for (int i = 0; i != 3; ++i) co_await spawn(says, std::ref(to), name);
  };
  run_on<TestType>(room_for<TestType>(5, overflow_policy::wait), [&]() -> program {
    for (char const name : {'a', 'b', 'c', 'd'}) co_await spawn(spawner, std::ref(order), name);
  });
  // a gets the room that the first process leaves, and then waits as well.
  CHECK(order.substr(0, 5) == "aabcd");
  CHECK(order.size() == 12);
}

TEMPLATE_TEST_CASE("forks that wait for room make the same processes as forks that need not", "",
                   on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  // The longest path is forked first, so that there is always a process that ends.
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    crowd c;
    findings found;
    run_on<TestType>(room_for<TestType>(4, overflow_policy::wait, true),
                     [&]() -> eff<void, proc, syncing> {
                       std::string path;
                       for (int i = 0; i != 3; ++i) {
                         bool const first = co_await proc::fork{};
                         path += first ? 't' : 'f';
                         if (!first) break;
                       }
                       in_crowd const here(c);
                       co_await proc::yield{};
                       found.add(path);
                     });
    CHECK(c.most <= 4);
    CHECK(found.all() == std::vector<std::string>{"f", "tf", "ttf", "ttt"});
  }
}

TEMPLATE_TEST_CASE(
    "a forkable process spawns where there is room, and spawns nothing when it is run again", "",
    on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    crowd c;
    counter ends = 0;
    run_on<TestType>(room_for<TestType>(3, overflow_policy::wait, true), [&]() -> program {
      for (int i = 0; i != 5; ++i) co_await spawn(joins, std::ref(c));
      co_await proc::fork{};
      co_await spawn(joins, std::ref(c));
      ++ends;
    });
    if (c.all != 7 || ends != 2 || c.most > 3) FAIL("round " << round << ": " << c.all);
  }
}

TEMPLATE_TEST_CASE("a deadlock in which processes wait for room names the room", "", on_one_thread,
                   on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(300); ++round) {
    every_frame_dies const check;
    crowd c;
    gate g;
    counter n = 0;
    counter told = 0;
    auto s = scheduler_on<TestType>();
    s.start(room_for<TestType>(2, overflow_policy::wait), [&]() -> program {
      co_await spawn(waits, std::ref(g), std::ref(n));
      try {
        co_await spawn(joins, std::ref(c));
      } catch (cancelled const&) {
        ++told;
        throw;
      }
    });
    // A submission would not find room either.
    auto const outside = s.template submitter<proc, syncing>();
    std::string what;
    try {
      s.run();
    } catch (deadlock const& e) {
      what = e.what();
    }
    CHECK_THAT(what, Contains("process 1 (lambda) in weft::spawning<") &&
                         Contains("waits for room: there are 2 processes") &&
                         Contains("process 1.1 (waits) in weft::syncing::wait"));
    CHECK(told == 1);
    CHECK(c.all == 0);
    CHECK(s.alive() == 0);
  }
}

TEMPLATE_TEST_CASE("a maximum of one has room for the first process only", "", on_one_thread,
                   on_locked_queue, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  crowd c;
  auto const p = [&]() -> program { co_await spawn(joins, std::ref(c)); };
  CHECK_THROWS_AS(run_on<TestType>(room_for<TestType>(1, overflow_policy::wait), p), deadlock);
  CHECK_THROWS_AS(run_on<TestType>(room_for<TestType>(1, overflow_policy::fail), p),
                  too_many_processes);
  run_on<TestType>(room_for<TestType>(1, overflow_policy::wait),
                   []() -> eff<void, proc> { co_await proc::yield{}; });
  CHECK(c.all == 0);
}

TEMPLATE_TEST_CASE("a process leaves its room, whether it ends by exit or by an exception", "",
                   on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  counter n = 0;
  auto const exits = [](counter& to) -> step {
    ++to;
    co_await proc::exit{};
  };
  run_on<TestType>(room_for<TestType>(2, overflow_policy::wait), [&]() -> program {
    for (int i = 0; i != 100; ++i) co_await spawn(exits, std::ref(n));
  });
  CHECK(n == 100);
  auto const fails = [](counter& to) -> step {
    ++to;
    throw std::runtime_error("no");
    co_return;
  };
  auto const p = [&]() -> program {
    for (;;) co_await spawn(fails, std::ref(n));
  };
  CHECK_THROWS_WITH(run_on<TestType>(room_for<TestType>(2, overflow_policy::wait), p), "no");
}

TEMPLATE_TEST_CASE("a process that is not begun after all gives its room back", "", on_one_thread,
                   on_locked_queue, on_sharing<2>, on_stealing<3>) {
  for (overflow_policy const when : {overflow_policy::fail, overflow_policy::wait})
    for (bool const log : {true, false}) {
      every_frame_dies const check;
      crowd c;
      auto const throws = [](int) -> step { throw std::runtime_error("not even begun"); };
      run_on<TestType>(room_for<TestType>(2, when, log), [&]() -> program {
        int failed = 0;
        for (int i = 0; i != 10; ++i) try {
            co_await spawn(throws, 1);
          } catch (std::runtime_error const&) {
            ++failed;
          }
        if (failed == 10) co_await spawn(joins, std::ref(c));
      });
      CHECK(c.all == 1);
    }
}

TEMPLATE_TEST_CASE("a process that waits for room is cancelled by a shutdown", "", on_one_thread,
                   on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(300); ++round) {
    every_frame_dies const check;
    external_event never;
    counter told = 0;
    counter begun = 0;
    counter alive = 0;
    using waiting = eff<void, spawning<proc, completions>, proc, completions>;
    auto s = scheduler_on<TestType>();
    s.start(room_for<TestType>(2, overflow_policy::wait), [&]() -> waiting {
      auto const child = [](external_event& at, counter& n, lives) -> eff<void, completions> {
        ++n;
        co_await completions::wait{at};
      };
      try {
        for (;;) co_await spawn(child, std::ref(never), std::ref(begun), lives(alive));
      } catch (cancelled const&) {
        ++told;
        throw;
      }
    });
    run_apart running(s);
    until([&] { return begun == 1; });
    for (int i = 0; i != round % 16; ++i) std::this_thread::yield();
    auto const report = s.shut_down(far_away);
    running.join();
    if (told != 1 || begun != 1 || alive != 0 || !report.in_time) FAIL("round " << round);
  }
}

TEMPLATE_TEST_CASE("a scheduler that is destroyed unwinds the processes that wait for room", "",
                   on_one_thread, on_locked_queue) {
  every_frame_dies const check;
  counter alive = 0;
  crowd c;
  {
    auto s = scheduler_on<TestType>();
    s.start(room_for<TestType>(1, overflow_policy::wait), [&]() -> program {
      lives const here(alive);
      auto const child = [](crowd& to, lives) -> step { co_await joins(to); };
      co_await spawn(child, std::ref(c), lives(alive));
    });
    CHECK(s.step());
    CHECK(alive > 0);
  }
  CHECK(alive == 0);
  CHECK(c.all == 0);
}

TEMPLATE_TEST_CASE("a submission beyond the maximum throws", "", on_one_thread, on_locked_queue,
                   on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  crowd c;
  counter alive = 0;
  auto s = scheduler_on<TestType>();
  s.start(room_for<TestType>(3, overflow_policy::fail), []() -> program { co_return; });
  {
    auto const outside = s.template submitter<proc, syncing>();
    auto const child = [](crowd& to, lives) -> step { co_await joins(to); };
    auto const submits = [&] { outside.submit(child, std::ref(c), lives(alive)); };
    submits();
    submits();
    CHECK_THROWS_WITH(submits(), Contains("submit: ") && Contains("allows, 3"));
    CHECK(alive == 2);
    CHECK(s.alive() == 3);
  }
  s.run();
  CHECK(c.all == 2);
  CHECK(alive == 0);
}

TEMPLATE_TEST_CASE("a submission waits for room on its own thread, in line with the processes", "",
                   on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  int const n = rounds(2000);
  crowd c;
  auto s = scheduler_on<TestType>();
  s.start(room_for<TestType>(3, overflow_policy::wait), [&]() -> program {
    for (int i = 0; i != n; ++i) co_await spawn(joins, std::ref(c));
  });
  std::optional outside(s.template submitter<proc, syncing>());
  std::vector<std::thread> others;
  for (int i = 0; i != 2; ++i)
    others.emplace_back([&c, times = n, outside = *outside] {
      for (int k = 0; k != times; ++k) outside.submit(joins, std::ref(c));
    });
  outside.reset();
  s.run();
  for (auto& t : others) t.join();
  CHECK(c.all == 3 * n);
  CHECK(c.most <= 3);
  CHECK(s.alive() == 0);
}

TEMPLATE_TEST_CASE("a submission that waits for room throws scheduler_stopped at a shutdown", "",
                   on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  for (int round = 0; round != rounds(300); ++round) {
    every_frame_dies const check;
    counter alive = 0;
    counter begun = 0;
    counter sent_away = 0;
    external_event never;
    using waiting = eff<void, completions>;
    auto const child = [](external_event& at, counter& n, lives) -> waiting {
      ++n;
      co_await completions::wait{at};
    };
    auto s = scheduler_on<TestType>();
    s.start(room_for<TestType>(2, overflow_policy::wait),
            [&]() -> waiting { co_await completions::wait{never}; });
    external_event never_either;
    std::thread other([&, outside = s.template submitter<completions>()] {
      try {
        for (;;) outside.submit(child, std::ref(never_either), std::ref(begun), lives(alive));
      } catch (scheduler_stopped const&) {
        ++sent_away;
      }
    });
    run_apart running(s);
    until([&] { return begun == 1; });
    for (int i = 0; i != round % 16; ++i) std::this_thread::yield();
    (void)s.shut_down(far_away);
    running.join();
    other.join();
    if (sent_away != 1 || begun != 1 || alive != 0) FAIL("round " << round);
  }
}

TEMPLATE_TEST_CASE("a process that submits where there is no room does not block its thread", "",
                   on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  findings found;
  crowd c;
  std::optional<submitter<typename TestType::backend, proc, syncing>> own;
  auto s = scheduler_on<TestType>();
  s.start(room_for<TestType>(1, overflow_policy::wait), [&]() -> program {
    try {
      own->submit(joins, std::ref(c));
    } catch (too_many_processes const& e) {
      found.add(e.what());
    }
    own.reset();
    co_return;
  });
  own.emplace(s.template submitter<proc, syncing>());
  s.run();
  REQUIRE(found.all().size() == 1);
  CHECK_THAT(found.all()[0], Contains("submit, by a process of the same scheduler"));
}

step is_there_briefly(crowd& c) {
  in_crowd const here(c);
  co_await proc::yield{};
}

// ---- every schedule

/// Two processes spawn two each; `most` is the maximum.
class full_scheduler final : public detail::subject {
 public:
  explicit full_scheduler(std::size_t most) : most_(most) {}

  [[nodiscard]] run_result run(detail::strategy& c, detail::run_log& log,
                               detail::run_limits const& limits) override {
    log.clear();
    crowd seen;
    try {
      scheduler<detail::controlled_backend> s(c, log, limits);
      detail::scoped_listener const by(c);
      s.start({.forkable = false,
               .virtual_time = true,
               .max_processes = most_,
               .when_full = overflow_policy::wait},
              [&seen]() -> program {
                auto const spawner = [](crowd& to) -> program {
                  for (int i = 0; i != 2; ++i) co_await spawn(is_there_briefly, std::ref(to));
                };
                co_await spawn(spawner, std::ref(seen));
                co_await spawner(seen);
              });
      s.run();
    } catch (deadlock const&) {
      return {verdict::deadlock, {}};
    }
    bool const is_right = seen.all == 4 && seen.most <= static_cast<int>(most_);
    return {is_right ? verdict::ok : verdict::failed, {}};
  }

 private:
  std::size_t most_;
};

TEST_CASE("in every schedule the maximum is kept, and no process waits in vain") {
  for (std::size_t const most : {3U, 4U}) {
    full_scheduler program(most);
    auto const found = detail::explore({.max_shrinking_runs = 0}, program);
    CHECK(found.ok());
    CHECK(found.complete);
    CHECK(found.schedules > 10);
  }
}

TEST_CASE("two processes that spawn two each, with room for themselves only, are in a deadlock") {
  full_scheduler program(2);
  auto const found = detail::explore({.max_shrinking_runs = 0}, program);
  CHECK(found.complete);
  REQUIRE(found.outcomes.size() == 1);
  CHECK(found.outcomes.front().result.verdict == verdict::deadlock);
}
