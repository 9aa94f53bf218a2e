// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Waiting for mutexes, semaphores and conditions until a deadline.  Time is virtual.

using children = spawning<proc, syncing, timing>;
using program = eff<void, children, proc, syncing, timing>;
using step = eff<void, proc, syncing, timing>;
constexpr instant at(std::chrono::milliseconds t) { return instant(t); }

step holds_until(std::reference_wrapper<mutex> m, instant t) {
  auto const held = co_await m.get().lock();
  co_await timing::sleep_until(t);
}

BACKENDS_TEST_CASE(
    "a process that waits for a mutex until a deadline gets it before, or nothing at it", "",
    on_one_thread, on_locked_queue, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
    on_stealing<3>) {
  every_frame_dies const check;
  instant gave_up;
  instant got_it;
  bool first = true;
  bool second = false;
  bool late = true;
  bool free = false;
  run_on(chosen, virtual_time(), [&]() -> program {
    mutex m;
    {
      // The deadline is past, and the mutex free.
      auto held = co_await m.try_lock_until(instant::min());
      free = held.has_value();
    }
    co_await spawn(holds_until, std::ref(m), at(20ms));
    co_await timing::sleep_until(at(1ms));
    {
      auto const held = co_await m.try_lock_until(instant::min());
      late = held.has_value();
    }
    {
      auto const held = co_await m.try_lock_until(at(10ms));
      first = held.has_value();
      gave_up = co_await timing::now{};
    }
    {
      auto const held = co_await m.try_lock_until(at(30ms));
      second = held.has_value();
      got_it = co_await timing::now{};
    }
  });
  CHECK(free);
  CHECK_FALSE(late);
  CHECK_FALSE(first);
  CHECK(gave_up == at(10ms));
  CHECK(second);
  CHECK(got_it == at(20ms));
}

BACKENDS_TEST_CASE(
    "a process that waits for a semaphore until a deadline gets it before, or nothing at it", "",
    on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  std::string found;
  run_on(chosen, virtual_time(), [&found]() -> program {
    semaphore s(1);
    co_await spawn(
        [](semaphore& of) -> step {
          co_await timing::sleep_until(at(5ms));
          of.release();
        },
        std::ref(s));
    for (auto const t : {at(1ms), at(2ms), at(10ms), at(20ms)}) {
      bool const has_one = co_await s.try_acquire_until(t);
      auto const now = co_await timing::now{};
      auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
      found += std::to_string(ms.count()) + (has_one ? "+ " : "- ");
    }
  });
  CHECK(found == "0+ 2- 5+ 20- ");
}

BACKENDS_TEST_CASE(
    "a wait at a condition ends at a notification or at the deadline, and locks again", "",
    on_one_thread, on_locked_queue, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
    on_stealing<3>) {
  every_frame_dies const check;
  std::string found;
  run_on(chosen, virtual_time(), [&found]() -> program {
    mutex m;
    condition c;
    int n = 0;
    co_await spawn(
        [](mutex& access, condition& changed, int& value) -> step {
          for (auto const t : {at(5ms), at(15ms), at(25ms)}) {
            co_await timing::sleep_until(t);
            auto const held = co_await access.lock();
            ++value;
            changed.notify_one();
          }
        },
        std::ref(m), std::ref(c), std::ref(n));
    auto held = co_await m.lock();
    auto const says = [&found, &held, &n](bool notified, instant now) {
      auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
      found += std::to_string(ms.count()) + (notified ? "+" : "-") + std::to_string(n) +
               (held.owns() ? " " : " unlocked ");
    };
    for (auto const t : {at(1ms), at(10ms)}) {
      bool const notified = co_await c.wait_until(held, t);
      auto const now = co_await timing::now{};
      says(notified, now);
    }
    // Two notifications more, of which the first is not enough; then one that never comes.
    for (auto const t : {at(30ms), at(40ms)}) {
      bool const holds =
          co_await c.wait_until(held, t, [&n, t] { return n >= t.time_since_epoch() / 10ms; });
      auto const now = co_await timing::now{};
      says(holds, now);
    }
    bool const at_once = co_await c.wait_until(held, at(50ms), [] { return true; });
    auto const now = co_await timing::now{};
    says(at_once, now);
  });
  CHECK(found == "1-0 5+1 25+3 40-3 40+3 ");
}

BACKENDS_TEST_CASE(
    "a deadline while another process has the mutex does not end the wait for the mutex", "",
    on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  instant back;
  bool notified = true;
  run_on(chosen, virtual_time(), [&]() -> program {
    mutex m;
    condition c;
    auto held = co_await m.lock();
    co_await spawn(holds_until, std::ref(m), at(20ms));
    notified = co_await c.wait_until(held, at(10ms));
    back = co_await timing::now{};
  });
  CHECK_FALSE(notified);
  CHECK(back == at(20ms));
}

BACKENDS_TEST_CASE("no unlock is lost on a process whose deadline comes at the same time", "",
                   on_one_thread, on_locked_queue, in_random_order, on_sharing<1>, on_sharing<2>,
                   on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(300); ++round) {
    mutex m;
    counter in_time = 0;
    counter too_late = 0;
    counter patient = 0;
    // Deadlines and unlocks are all at the same instants.  If an unlock were lost, the processes
    // without a deadline would wait for ever: a deadlock.
    run_on(chosen, virtual_time(), [&]() -> program {
      for (int i = 0; i != 4; ++i) {
        co_await spawn(
            [](mutex& of, counter& yes, counter& no) -> step {
              for (int t = 1; t <= 10; ++t) {
                auto const held = co_await of.try_lock_until(instant(std::chrono::milliseconds(t)));
                ++(held ? yes : no);
                if (held) co_await timing::sleep_until(instant(std::chrono::milliseconds(t)));
              }
            },
            std::ref(m), std::ref(in_time), std::ref(too_late));
        co_await spawn(
            [](mutex& of, counter& n) -> step {
              for (int k = 0; k != 3; ++k) {
                auto const held = co_await of.lock();
                auto const now = co_await timing::now{};
                co_await timing::sleep_until(now + 1ms);
                ++n;
              }
            },
            std::ref(m), std::ref(patient));
      }
    });
    if (patient != 12 || in_time + too_late != 40)
      FAIL("round " << round << ": " << patient << ", " << in_time << ", " << too_late);
  }
}

TEST_CASE(
    "in every schedule a notification at the deadline comes in time or too late, and is not lost") {
  struct state {
    mutex m;
    condition c;
    bool in_time = false;
    bool other = false;
  };
  auto const found =
      explore([] { return std::make_unique<state>(); },
              [](std::unique_ptr<state>& s) -> eff<void, spawning<proc, syncing, timing>> {
                co_await spawn(
                    [](state& it) -> step {
                      auto held = co_await it.m.lock();
                      it.in_time = co_await it.c.wait_until(held, at(5ms));
                    },
                    std::ref(*s));
                co_await spawn(
                    [](state& it) -> step {
                      auto held = co_await it.m.lock();
                      it.other = co_await it.c.wait_until(held, at(6ms));
                    },
                    std::ref(*s));
                co_await spawn(
                    [](state& it) -> step {
                      co_await timing::sleep_until(at(5ms));
                      it.c.notify_one();
                    },
                    std::ref(*s));
              },
              [](std::unique_ptr<state> const& s) -> run_result {
                // Whichever process is notified, one of them continues in time.
                return {s->in_time || s->other ? verdict::ok : verdict::failed,
                        s->in_time ? "in time" : "too late"};
              });
  CHECK(found.ok());
  CHECK(found.complete);
  CHECK(found.outcomes.size() == 2);
}
