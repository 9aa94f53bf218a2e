// SPDX-License-Identifier: MIT

/// Shutting a scheduler down: everybody is told, and who is left is unwound.
#include "sched/shutdown.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "effects/effects.hpp"
#include "sched/schedule.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/outside.hpp"
#include "tests/support/threads.hpp"

using namespace weft;
using namespace weft::tests;
using Catch::Matchers::Contains;

namespace {

using all = row<proc, syncing, completing, timing, mail>;
using step = eff<void, all>;
using children = spawning<all>;
using program = eff<void, children, all>;

/// What processes found.
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

program does_nothing() { co_return; }

/// Says what it finds when it does that for ever.
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
  auto const again = [&from = in, &t]() -> step {
    (void)co_await from.receive();
    ++t.get().otherwise;
  };
  co_await goes_on(t, again);
}
step sleeps(tallied t, lives) {
  auto const again = []() -> step { co_await timing::sleep_until{far_away}; };
  co_await goes_on(t, again);
}
step waits_for_a_completion(tallied t, lives) {
  completer<int> never;
  auto to_come = never.get_completion();
  auto const again = [&to_come, &t]() -> step {
    (void)co_await to_come.wait();
    ++t.get().otherwise;
  };
  co_await goes_on(t, again);
}
/// Is told, and told, and goes on.
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

}  // namespace

TEMPLATE_TEST_CASE("all find cancelled, with the reason, wherever they wait", "", alone, by_queue,
                   shared_by<1>, shared_by<2>, shared_by<8>) {
  for (int round = 0; round != rounds(200); ++round) {
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

TEMPLATE_TEST_CASE("a scheduler that sleeps, waiting for submissions, is woken to end", "", alone,
                   by_queue, shared_by<1>, shared_by<2>, shared_by<8>) {
  for (int round = 0; round != rounds(500); ++round) {
    every_frame_dies const check;
    tally t;
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(), does_nothing);
    auto const outside = s.template submitter<all>();
    run_apart running(s);
    if (round % 2) outside.submit(sleeps, std::ref(t), lives(t.alive));
    for (int i = 0; i != round % 32; ++i) std::this_thread::yield();
    auto const report = s.shut_down(std::chrono::hours(1000));
    CHECK_THROWS_AS(outside.submit(does_nothing_else, 1), scheduler_stopped);
    running.join();
    if (!report.in_time || t.alive != 0 || s.alive() != 0) FAIL("round " << round);
  }
}

TEMPLATE_TEST_CASE("at the deadline they are unwound where they are, and the report says so", "",
                   alone, by_queue, shared_by<1>, shared_by<2>, shared_by<8>) {
  for (int round = 0; round != rounds(200); ++round) {
    every_frame_dies const check;
    tally t;
    auto s = scheduler_on<TestType>();
    s.start(TestType::how(), [&t]() -> program {
      for (int i = 0; i != 3; ++i)
        co_await spawn(waits_at_a_gate, std::ref(t), lives(t.alive));
      ++t.begun;
      gate g;
      co_await completing::wait{never_opened()};
    });
    run_apart running(s);
    until([&] { return t.begun == 4; });
    auto const report = s.shut_down(passed, "too late to be told");
    running.join();
    CHECK_FALSE(report.in_time);
    if (t.told != 0 || t.alive != 0 || s.alive() != 0) FAIL("round " << round);
    if (report.left.size() != 4) FAIL("round " << round << ": " << who(report));
    CHECK(who(report) == "1 1.1 1.2 1.3 ");
  }
}
