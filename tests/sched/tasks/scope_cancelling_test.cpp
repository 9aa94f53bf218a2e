// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "weft/sched/tasks/shielded.hpp"
#include "weft/sched/tasks/when_all.hpp"
#include "weft/sched/tasks/when_any.hpp"

/// Scopes that are cancelled: their processes are cancelled wherever they wait, and no task begins.

/// Many scopes whose processes wait for ever: some scopes end at their timeout, and some are
/// cancelled from outside.
job many_scopes(int n, std::atomic<int>& ended) {
  auto const waits = []() -> job { co_await timing::sleep_for(1h); };
  auto const waits_inside = [&](auto& s) -> job {
    s.start(waits);
    gate never;
    co_await syncing::wait{never};
  };
  co_await with_scope([&](auto& all) -> job {
    for (int i = 0; i != n; ++i)
      all.start([&, i]() -> job {
        try {
          if (i % 3 != 0) {
            co_await with_scope({.timeout = i % 7 * 200us}, waits_inside);
          } else {
            co_await with_scope([&](auto& s) -> job {
              s.start([&]() -> job { co_await with_scope(waits_inside); });
              co_await yields_often(i % 5);
              s.cancel();
              co_await waits();
            });
          }
        } catch (cancelled const&) {
        }
        ++ended;
      });
    co_return;
  });
}

TEST_CASE("many scopes that are cancelled together all end") {
  for (auto const& where : places_for_tasks()) {
    CAPTURE(where.name);
    for (int round = 0; round != 5; ++round) {
      every_frame_dies const check;
      std::atomic<int> ended = 0;
      int const n = rounds(500);
      where.run([&] { return many_scopes(n, ended); });
      REQUIRE(ended == n);
    }
  }
}

enum kind : unsigned {
  gate_waiter,
  at_gate_in_time,
  at_mutex,
  receiving,
  receiving_in_time,
  sending,
  asleep,
  outside,
  outside_in_time,
  at_handle,
  at_handle_in_time,
  at_scope_end,
  in_when_all,
  in_when_any,
  kinds
};

/// The objects that processes wait at, and counts of their cancellations.
struct world {
  gate at;
  mutex key;
  std::array<external_event, 3> opens;
  task_handle<void>* never = nullptr;
  std::stop_source stop;
  counter waiting = 0;
  std::array<counter, kinds> told{};
  counter wrong_answers = 0;
  counter alive = 0;
  counter begun_late = 0;
  std::string outcome;
};

job waits_at_gate(world& w) {
  lives const here(w.alive);
  co_await syncing::wait{w.at};
}
job waits_in_that_way(world& w, kind k) {
  ++w.waiting;
  switch (k) {
    case gate_waiter:
      co_await syncing::wait{w.at};
      break;
    case at_gate_in_time: {
      instant const now = co_await timing::now{};
      (void)co_await syncing::wait_until(w.at, w.at.epoch(), now + 1h);
      break;
    }
    case at_mutex:
      (void)co_await w.key.lock();
      break;
    case receiving: {
      auto box = co_await open<int>();
      (void)co_await box.in.receive();
      break;
    }
    case receiving_in_time: {
      auto box = co_await open<int>();
      instant const now = co_await timing::now{};
      (void)co_await box.in.receive_until(now + 1h);
      break;
    }
    case sending: {
      auto box = co_await open<int>({.capacity = 1});
      (void)co_await box.to.send(0);
      (void)co_await box.to.send(1);
      break;
    }
    case asleep:
      co_await timing::sleep_for{1h};
      break;
    case outside:
      co_await completions::wait{w.opens[0]};
      break;
    case outside_in_time: {
      instant const now = co_await timing::now{};
      (void)co_await completions::wait_until(w.opens[1], now + 1h);
      break;
    }
    case at_handle:
      co_await *w.never;
      break;
    case at_handle_in_time:
      (void)co_await w.never->wait_for(1h);
      break;
    case at_scope_end:
      co_await with_scope([&](tasks_scope& s) -> job {
        s.start(waits_at_gate, std::ref(w));
        co_return;
      });
      break;
    case in_when_all:
      co_await when_all(waits_at_gate(w), waits_at_gate(w));
      break;
    default:
      (void)co_await when_any(waits_at_gate(w), waits_at_gate(w));
  }
}
job waits_for_ever(world& w, kind k) {
  lives const here(w.alive);
  try {
    co_await waits_in_that_way(w, k);
    ++w.wrong_answers;
  } catch (cancelled const&) {
    ++w.told[k];
    throw;
  }
}

enum class by {
  a_task_that_fails,
  a_body_that_throws,
  the_body,
  a_task,
  a_token_in_a_task,
  an_outer_token,
  the_scope_round_it,
  its_deadline
};
constexpr std::array ways = {
    by::a_task_that_fails, by::a_body_that_throws, by::the_body,           by::a_task,
    by::a_token_in_a_task, by::an_outer_token,     by::the_scope_round_it, by::its_deadline};

/// Starts a waiting process of each kind, and then cancels.
job cancels(world& w, by how, int yields, tasks_scope& round_it, tasks_scope& s) {
  for (unsigned k = 0; k != kinds; ++k) s.start(waits_for_ever, std::ref(w), static_cast<kind>(k));
  auto const when_all_wait = [&w, yields]() -> job {
    while (w.waiting != kinds) co_await proc::yield{};
    co_await yields_often(yields);
  };
  switch (how) {
    case by::a_task_that_fails:
      s.start([when_all_wait]() -> job {
        co_await when_all_wait();
        throw wrong("task");
      });
      break;
    case by::a_body_that_throws:
      co_await when_all_wait();
      throw wrong("body");
    case by::the_body:
      co_await when_all_wait();
      s.cancel();
      s.start([&w] { ++w.begun_late; });
      break;
    case by::a_task:
      s.start([&, when_all_wait]() -> job {
        co_await when_all_wait();
        s.cancel();
        s.start([&w] { ++w.begun_late; });
        s.start([&w]() -> job {
          ++w.begun_late;
          co_return;
        });
      });
      break;
    case by::a_token_in_a_task:
      s.start([&, when_all_wait]() -> job {
        co_await when_all_wait();
        w.stop.request_stop();
      });
      break;
    case by::an_outer_token:
      co_await completions::wait{w.opens[2]};  // a thread requests the stop
      break;
    case by::the_scope_round_it:
      co_await when_all_wait();
      round_it.cancel();
      break;
    case by::its_deadline:
      break;
  }
}
job in_scopes(world& w, by how, int yields) {
  task_handle<void> never;
  w.never = &never;
  co_await with_scope([&](tasks_scope& outmost) -> job {
    outmost.start(never, waits_at_gate, std::ref(w));
    try {
      auto const held = co_await w.key.lock();
      scope_options options;
      if (how == by::its_deadline) options.timeout = 1min;
      co_await with_scope([&](tasks_scope& round_it) -> job {
        auto const body = [&](tasks_scope& s) -> job {
          co_await cancels(w, how, yields, round_it, s);
        };
        if (how == by::its_deadline || how == by::a_token_in_a_task || how == by::an_outer_token)
          co_await with_scope(options, w.stop.get_token(), body);
        else
          co_await with_scope(body);
        w.outcome = "well";
      });
    } catch (wrong const& e) {
      w.outcome = e.what();
    } catch (cancelled const&) {
      w.outcome = "cancelled";
    } catch (exceptions const& e) {
      w.outcome = "several: " + std::to_string(e.all.size());
    }
    outmost.cancel();
  });
}
std::string expected(by how) {
  switch (how) {
    case by::a_task_that_fails:
      return "task";
    case by::a_body_that_throws:
      return "body";
    case by::the_body:
    case by::a_task:
      return "well";
    case by::a_token_in_a_task:
    case by::an_outer_token:
    case by::its_deadline:
      return "cancelled";
    default:
      return "";
  }
}

TEST_CASE("a process in a scope that is cancelled is cancelled, wherever it waits") {
  for (auto const& where : places_for_tasks())
    for (by const how : ways) {
      DYNAMIC_SECTION(where.name << ", " << static_cast<int>(how)) {
        for (int round = 0; round != rounds(30) + 1; ++round) {
          every_frame_dies const check;
          world w;
          auto const p = [&] { return in_scopes(w, how, round % 5); };
          if (how == by::its_deadline) {
            where.run_in_virtual_time(p);
          } else if (how == by::an_outer_token) {
            std::jthread const stops([&] {
              until([&] { return w.waiting == kinds; });
              w.stop.request_stop();
            });
            where.run(p);
          } else {
            where.run(p);
          }
          for (unsigned k = 0; k != kinds; ++k) {
            CAPTURE(k);
            REQUIRE(w.told[k] == 1);
          }
          REQUIRE(w.wrong_answers == 0);
          REQUIRE(w.alive == 0);
          REQUIRE(w.begun_late == 0);
          if (how != by::the_scope_round_it) REQUIRE(w.outcome == expected(how));
        }
      }
    }
}
