// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Shutting down a scheduler: every process is cancelled, and the rest is unwound.

TEMPLATE_TEST_CASE("a shutdown unwinds processes that fork", "", on_one_thread, on_locked_queue,
                   on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    counter alive = 0;
    counter leaves = 0;
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(true), [&]() -> eff<void, proc> {
      lives const here(alive);
      for (int i = 0; i != 7; ++i) co_await proc::fork{};
      ++leaves;
      for (;;) co_await proc::yield{};
    });
    run_apart running(s);
    until([&] { return leaves > round % 100; });
    auto const report = s.shut_down(round % 2 ? far_away : passed);
    running.join();
    if (alive != 0 || s.alive() != 0) FAIL("round " << round);
  }
}

using all = row<proc, syncing, completions, timing, mail>;
using step = eff<void, all>;
using children = spawning<all>;
using program = eff<void, children, all>;

/// The processes' results.
struct tally {
  counter alive = 0;
  counter begun = 0;
  counter told = 0;
  counter for_another_reason = 0;
  counter otherwise = 0;
  void is_told(cancelled const& e) {
    ++told;
    if (std::string(e.what()) != "weft: cancelled: the lights go out") ++for_another_reason;
  }
};
using tallied = std::reference_wrapper<tally>;

/// Repeats `again` for ever, and counts how it ends.
template <class Do>
step goes_on(tally& t, Do again) {
  ++t.begun;
  try {
    for (;;) co_await again();
  } catch (cancelled const& e) {
    t.is_told(e);
    throw;
  }
}
step yields(tallied t, lives) {
  auto const again = []() -> step { co_await proc::yield{}; };
  co_await goes_on(t, again);
}
step waits_at_a_gate(tallied t, lives) {
  gate own;
  auto const again = [&own]() -> step { co_await syncing::wait{own}; };
  co_await goes_on(t, again);
}
step waits_for_mail(tallied t, lives) {
  auto [in, to] = co_await open<int>();
  auto const again = [&from = in, t]() -> step {
    (void)co_await from.receive();
    ++t.get().otherwise;
  };
  co_await goes_on(t, again);
}
step sleeps(tallied t, lives) {
  auto const again = []() -> step {
    co_await timing::sleep_until{far_away - std::chrono::hours(1)};
  };
  co_await goes_on(t, again);
}
step waits_for_a_completion(tallied t, lives) {
  completer<int> never;
  auto to_come = never.get_completion();
  auto const again = [&to_come, t]() -> step {
    (void)co_await to_come.wait();
    ++t.get().otherwise;
  };
  co_await goes_on(t, again);
}

TEMPLATE_TEST_CASE("a shutdown cancels all processes, with its reason, wherever they wait", "",
                   on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    tally t;
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(), [&t]() -> program {
      for (int i = 0; i != 3; ++i) {
        co_await spawn(yields, std::ref(t), lives(t.alive));
        co_await spawn(waits_at_a_gate, std::ref(t), lives(t.alive));
        co_await spawn(waits_for_mail, std::ref(t), lives(t.alive));
        co_await spawn(sleeps, std::ref(t), lives(t.alive));
        co_await spawn(waits_for_a_completion, std::ref(t), lives(t.alive));
      }
    });
    run_apart running(s);
    until([&] { return t.begun == 15; });
    auto const report = s.shut_down(far_away, "the lights go out");
    running.join();
    CHECK(report.in_time);
    CHECK(report.left.empty());
    CHECK(s.alive() == 0);
    if (t.told != 15 || t.for_another_reason != 0 || t.otherwise != 0 || t.alive != 0)
      FAIL("round " << round << ": " << t.told << " were told");
  }
}

TEMPLATE_TEST_CASE("a shutdown wakes a scheduler that sleeps, waiting for submissions", "",
                   on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  for (int round = 0; round != rounds(250); ++round) {
    every_frame_dies const check;
    tally t;
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(), [&t]() -> program {
      ++t.begun;
      co_return;
    });
    auto const outside = s.template submitter<all>();
    run_apart running(s);
    until([&] { return t.begun == 1; });
    if (round % 2) outside.submit(sleeps, std::ref(t), lives(t.alive));
    for (int i = 0; i != round % 32; ++i) std::this_thread::yield();
    auto const report = s.shut_down(std::chrono::hours(1000));
    CHECK_THROWS_AS(outside.submit(sleeps, std::ref(t), lives(t.alive)), scheduler_stopped);
    running.join();
    if (!report.in_time || t.alive != 0 || s.alive() != 0) FAIL("round " << round);
  }
}

std::string who(shutdown_report const& r) {
  std::vector<std::string> ids;
  for (auto const& l : r.left) ids.push_back(l.process.text());
  std::ranges::sort(ids);
  std::string s;
  for (auto const& id : ids) s += id + ' ';
  return s;
}
bool all_are_in(shutdown_report const& r, std::string const& operation) {
  bool found = true;
  for (auto const& l : r.left)
    found = found && l.what.find(operation) != std::string::npos &&
            l.what.find("shutdown_test.cpp:") != std::string::npos;
  return found;
}

TEMPLATE_TEST_CASE(
    "at the deadline of a shutdown processes are unwound where they are, and reported", "",
    on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    tally t;
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(), [&t]() -> program {
      for (int i = 0; i != 3; ++i) co_await spawn(waits_at_a_gate, std::ref(t), lives(t.alive));
      ++t.begun;
      external_event never;
      co_await completions::wait{never};
    });
    run_apart running(s);
    until([&] { return t.begun == 4; });
    auto const report = s.shut_down(passed, "too late to be told");
    running.join();
    CHECK_FALSE(report.in_time);
    if (t.told != 0 || t.alive != 0 || s.alive() != 0) FAIL("round " << round);
    if (report.left.size() != 4) FAIL("round " << round << ": " << who(report));
    CHECK(who(report) == "1 1.1 1.2 1.3 ");
    CHECK(all_are_in(report, "::wait at"));
  }
}

/// Catches each cancellation, and continues.
step does_not_listen(tallied t, lives) {
  ++t.get().begun;
  for (;;) try {
      co_await proc::yield{};
    } catch (cancelled const&) {
      ++t.get().told;
    }
}
step does_not_listen_at_a_gate(tallied t, lives) {
  ++t.get().begun;
  gate own;
  for (;;) try {
      co_await syncing::wait{own};
    } catch (cancelled const&) {
      ++t.get().told;
    }
}

TEMPLATE_TEST_CASE(
    "a process that catches each cancellation is unwound after a hundred times, and reported", "",
    on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  tally t;
  auto s = scheduler_on<TestType>();
  s.start(TestType::how(), [&t]() -> program {
    co_await spawn(does_not_listen, std::ref(t), lives(t.alive));
    co_await spawn(does_not_listen_at_a_gate, std::ref(t), lives(t.alive));
    co_await spawn(sleeps, std::ref(t), lives(t.alive));
  });
  run_apart running(s);
  until([&] { return t.begun == 3; });
  auto const report = s.shut_down(far_away);
  running.join();
  CHECK(report.in_time);
  CHECK(who(report) == "1.1 1.2 ");
  CHECK(all_are_in(report, "weft::"));
  CHECK(t.told == 2 * 100 + 1);
  CHECK(t.alive == 0);
}

TEMPLATE_TEST_CASE(
    "a second shutdown with a past deadline unwinds a process that was cancelled and works on", "",
    on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    tally t;
    counter go = 0;
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(), [&]() -> program {
      co_await spawn(
          [](tallied to, counter& goes, lives) -> step {
            ++to.get().begun;
            for (;;) try {
                co_await proc::yield{};
              } catch (cancelled const&) {
                ++to.get().told;
                until([&] { return goes == 1; });  // stands for a computation
              }
          },
          std::ref(t), std::ref(go), lives(t.alive));
      co_await waits_at_a_gate(t, lives(t.alive));
    });
    run_apart running(s);
    until([&] { return t.begun == 2; });
    shutdown_report first;
    std::thread other([&] { first = s.shut_down(far_away); });
    until([&] { return t.told == 2; });
    std::thread hurries([&] { go = 1; });
    auto const second = s.shut_down(passed);
    hurries.join();
    other.join();
    running.join();
    if (who(first) != "1.1 " || who(second) != "1.1 " || first.in_time != second.in_time ||
        t.alive != 0)
      FAIL("round " << round << ": " << who(first));
  }
}

TEMPLATE_TEST_CASE(
    "a shutdown in a storm of spawns and submissions leaves no process, at any moment", "",
    on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    counter alive = 0;
    counter n = 0;
    auto const counts = [](counter& to, lives) -> step {
      co_await proc::yield{};
      ++to;
    };
    {
      auto s = scheduler_on<TestType>();
      s.start(TestType::how(), [&]() -> program {
        for (int made = 0;; ++made) {
          co_await spawn(counts, std::ref(n), lives(alive));
          if (made % 8 == 7) co_await proc::yield{};
        }
      });
      std::vector<std::thread> others;
      for (int i = 0; i != 2; ++i)
        others.emplace_back([&, outside = s.template submitter<all>()] {
          try {
            for (;;) {
              if (alive > 1000) std::this_thread::yield();
              outside.submit(counts, std::ref(n), lives(alive));
            }
          } catch (scheduler_stopped const&) {
          }
        });
      run_apart running(s);
      until([&] { return n >= round; });
      auto const report = s.shut_down(round % 2 ? far_away : passed);
      running.join();
      CHECK(report.in_time == (round % 2 == 1));
      CHECK(s.alive() == 0);
      for (auto& t : others) t.join();
    }
    if (alive != 0) FAIL("round " << round << ": " << alive << " are left");
  }
}

TEMPLATE_TEST_CASE("a shutdown at any moment leaves no process", "", on_one_thread, on_locked_queue,
                   on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(500); ++round) {
    every_frame_dies const check;
    tally t;
    counter done = 0;
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(), [&]() -> program {
      for (int i = 0; i != 10; ++i) {
        co_await spawn(
            [](counter& n, lives) -> step {
              for (int k = 0; k != 10; ++k) co_await proc::yield{};
              ++n;
            },
            std::ref(done), lives(t.alive));
        co_await proc::yield{};
      }
    });
    std::optional<shutdown_report> report;
    std::thread other([&] {
      for (int i = 0; i != round % 64; ++i) std::this_thread::yield();
      report = s.shut_down(round % 3 ? far_away : passed);
    });
    s.run();
    other.join();
    if (t.alive != 0 || s.alive() != 0) FAIL("round " << round);
    s.run();  // for a scheduler that was shut down before it ran
    CHECK(s.alive() == 0);
  }
}

TEMPLATE_TEST_CASE("a shutdown before the run waits for no process, and the run begins none", "",
                   on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  for (bool const runs : {true, false}) {
    every_frame_dies const check;
    tally t;
    bool has_begun = false;
    {
      auto s = scheduler_on<TestType>();
      s.start(TestType::how(), [&]() -> program {
        has_begun = true;
        co_return;
      });
      auto const outside = s.template submitter<all>();
      outside.submit(sleeps, std::ref(t), lives(t.alive));
      auto const report = s.shut_down(far_away);
      CHECK_FALSE(report.in_time);
      CHECK(report.left.empty());
      CHECK_THROWS_AS(outside.submit(sleeps, std::ref(t), lives(t.alive)), scheduler_stopped);
      if (runs) {
        s.run();
        CHECK(s.alive() == 0);
        CHECK(s.shut_down(far_away).in_time);
      }
    }
    CHECK_FALSE(has_begun);
    CHECK(t.alive == 0);
  }
}

program does_nothing() { co_return; }

TEMPLATE_TEST_CASE("a shutdown after the run has no effect, however often it is called", "",
                   on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  auto s = scheduler_on<TestType>();
  s.start(TestType::how(), does_nothing);
  s.run();
  for (auto const deadline : {far_away, passed}) {
    auto const report = s.shut_down(deadline, "again");
    CHECK(report.in_time);
    CHECK(report.left.empty());
  }
}

TEMPLATE_TEST_CASE("a second shutdown waits too, and returns the same report", "", on_one_thread,
                   on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    tally t;
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(),
            [&t]() -> program { co_await spawn(does_not_listen, std::ref(t), lives(t.alive)); });
    run_apart running(s);
    until([&] { return t.begun == 1; });
    shutdown_report other;
    std::thread at_once([&] { other = s.shut_down(far_away, "one"); });
    auto const one = s.shut_down(far_away, "two");
    at_once.join();
    running.join();
    if (who(one) != "1.1 " || who(other) != "1.1 ") FAIL("round " << round);
    CHECK(who(s.shut_down(passed)) == "1.1 ");
  }
}

TEMPLATE_TEST_CASE("a process cannot shut down its own scheduler, which would wait for it", "",
                   on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  findings found;
  auto s = scheduler_on<TestType>();
  s.start(TestType::how(), [&]() -> program {
    co_await spawn(
        [](decltype(s)& of, findings& to) -> step {
          try {
            of.shut_down(far_away);
          } catch (std::logic_error const& e) {
            to.add(e.what());
          }
          co_return;
        },
        std::ref(s), std::ref(found));
    // Nor from inside another scheduler that the process runs.
    schedule([&]() -> eff<void> {
      try {
        s.shut_down(passed);
      } catch (std::logic_error const& e) {
        found.add(e.what());
      }
      co_return;
    });
  });
  s.run();
  REQUIRE(found.all().size() == 2);
  CHECK_THAT(found.all()[0], Contains("process 1 of the same"));
  CHECK_THAT(found.all()[1], Contains("process 1.1 of the same"));
}

TEMPLATE_TEST_CASE("the run throws an exception of a process during a shutdown, and no other", "",
                   on_one_thread, on_locked_queue, on_sharing<1>, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  tally t;
  auto s = scheduler_on<TestType>();
  s.start(TestType::how(), [&t]() -> program {
    co_await spawn(waits_at_a_gate, std::ref(t), lives(t.alive));
    try {
      co_await sleeps(t, lives(t.alive));
    } catch (cancelled const&) {
    }
    throw std::runtime_error("while it was cleaning up");
  });
  run_apart running(s);
  until([&] { return t.begun == 2; });
  auto const report = s.shut_down(far_away);
  CHECK_THROWS_WITH(running.join(), "while it was cleaning up");
  CHECK(report.in_time);
  CHECK(t.told == 2);
}

TEST_CASE("a shutdown between two steps cancels, and the next steps unwind") {
  every_frame_dies const check;
  tally t;
  scheduler<> s;
  s.start({.forkable = false}, [&t]() -> program { co_await yields(t, lives(t.alive)); });
  CHECK(s.step());
  CHECK(s.step());
  CHECK(t.begun == 1);
  auto const report = s.shut_down(std::chrono::seconds(0), "the lights go out");
  CHECK_FALSE(report.in_time);
  while (s.step()) {
  }
  CHECK(t.told == 1);
  CHECK(t.for_another_reason == 0);
  CHECK(s.alive() == 0);
  CHECK(s.shut_down(far_away).in_time);
}

TEMPLATE_TEST_CASE("schedulers are started and shut down again and again", "", on_one_thread,
                   on_locked_queue, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  tally t;
  for (int round = 0; round != rounds(250); ++round) {
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(), does_nothing);
    auto const outside = s.template submitter<all>();
    run_apart running(s);
    outside.submit(waits_for_mail, std::ref(t), lives(t.alive));
    auto const report = s.shut_down(far_away);
    running.join();
    if (s.alive() != 0 || t.alive != 0) FAIL("round " << round);
  }
}

TEST_CASE("cancelled gives its reason, if there is one") {
  CHECK_THAT(cancelled().what(), Contains("another process failed"));
  cancelled const with(std::make_shared<std::string const>("because"));
  cancelled const copy = with;  // NOLINT
  CHECK(std::string(copy.what()) == "because");
}
