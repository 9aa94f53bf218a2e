// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Time, and processes that are run again: by forks, checkpoints, and under every schedule; and
/// sleeps inside handlers.

using program = eff<void, spawning<proc, timing>, proc, timing>;
std::string in_ms(instant t) { return std::to_string((t - instant()) / 1ms) + " "; }

// ---- replay

BACKENDS_TEST_CASE("a process that is run again does not sleep again, and gets the old times", "",
                   on_one_thread, in_random_order, on_locked_stack, on_sharing<1>, on_sharing<2>,
                   on_stealing<3>) {
  every_frame_dies const check;
  findings found;
  run_on(chosen, virtual_time(true), [&found]() -> program {
    instant const first = co_await timing::now{};
    co_await timing::sleep_for(10ms);
    instant const second = co_await timing::now{};
    co_await timing::sleep_until(second + 5ms);
    bool const one = co_await proc::fork{};
    instant const third = co_await timing::now{};
    if (one) co_await timing::sleep_for(100ms);
    instant const last = co_await timing::now{};
    found.add((one ? "one: " : "two: ") + in_ms(first) + in_ms(second) + in_ms(third) +
              in_ms(last));
  });
  CHECK(found.all() == std::vector<std::string>{"one: 0 10 15 115 ", "two: 0 10 15 15 "});
}

BACKENDS_TEST_CASE("a wait with a deadline has the same result in a replay", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<3>) {
  every_frame_dies const check;
  findings found;
  gate woken;
  gate forgotten;
  using forks = eff<void, spawning<proc, syncing, timing>, proc, syncing, timing>;
  run_on(chosen, virtual_time(true), [&]() -> forks {
    co_await spawn(
        [](gate& g) -> eff<void, proc, syncing, timing> {
          co_await timing::sleep_for(5ms);
          co_await syncing::wake{g};
        },
        std::ref(woken));
    bool const in_time = co_await syncing::wait_until(woken, 0, instant() + 10ms);
    bool const late = co_await syncing::wait_until(forgotten, 0, instant() + 10ms);
    bool const one = co_await proc::fork{};
    found.add(std::string(one ? "one " : "two ") + (in_time ? "woken " : "late ") +
              (late ? "woken" : "late"));
  });
  CHECK(found.all() == std::vector<std::string>{"one woken late", "two woken late"});
}

// ---- checkpoints

TEST_CASE("a checkpoint is refused while a process sleeps, and the message names the process") {
  every_frame_dies const check;
  scheduler<> s;
  s.start({.virtual_time = true}, []() -> program { co_await timing::sleep_for(1h); });
  s.step();
  CHECK_THROWS_WITH(s.checkpoint(), Contains("process 1 waits in weft::timing::sleep_for at "));
  s.run();
  CHECK_NOTHROW(s.checkpoint());
}

TEST_CASE(
    "a checkpoint is refused while a process that was woken before its deadline has not run") {
  every_frame_dies const check;
  gate g;
  scheduler<> s;
  using waits = eff<void, spawning<proc, syncing>, proc, syncing>;
  s.start({.virtual_time = true}, [&g]() -> waits {
    co_await spawn(forkable, [&g]() -> waits {
      (void)co_await syncing::wait_until(g, 0, instant() + 1h);
      co_await proc::yield{};
    });
    co_await proc::yield{};
    co_await syncing::wake{g};
    co_await proc::yield{};
    co_await proc::yield{};
  });
  for (int i = 0; i != 3; ++i) s.step();
  CHECK(g.waiting() == 0);
  CHECK_THROWS_WITH(s.checkpoint(), Contains("has been woken") && !Contains("outside gate"));
  s.step();
  CHECK_NOTHROW(s.checkpoint());
  s.run();
}

using printing = eff<void, spawning<proc, console, timing>, proc, console, timing>;

printing prints_time(std::string who) {
  instant const t = co_await timing::now{};
  co_await console::print{who + in_ms(t)};
}

TEST_CASE("a checkpoint keeps its time: the same future comes again, at the same instants") {
  every_frame_dies const check;
  std::string text;
  scheduler<> s;
  s.start(
      {.virtual_time = true},
      []() -> printing {
        co_await timing::sleep_for(10ms);
        co_await proc::yield{};
        co_await prints_time("before ");
        co_await timing::sleep_for(10ms);
        co_await prints_time("after ");
      },
      console_to_string(text));
  s.step();
  s.step();
  auto const here = s.checkpoint();
  s.run();
  std::string const first = std::exchange(text, {});
  s.run(here);
  CHECK(first == "before 10 after 20 ");
  CHECK(text == first);
}

using sleeper = eff<void, proc, timing>;

// ---- every schedule

TEST_CASE("sleeps until different instants have one wake-up order, until the same instant all") {
  every_frame_dies const check;
  for (bool const same : {true, false}) {
    auto const found =
        explore([] { return std::string(); },
                [same](std::string& to) -> program {
                  for (int i = 0; i != 3; ++i)
                    co_await spawn(
                        [](std::string& s, int n, bool at_once) -> sleeper {
                          co_await timing::sleep_until(instant() + (at_once ? 1ms : n * 1ms));
                          s += std::to_string(n);
                        },
                        std::ref(to), i, same);
                },
                [](std::string const& s) { return s; });
    CHECK(found.ok());
    // The processes begin in 6 orders, and none wakes before all sleep.
    CHECK(found.schedules == (same ? 36 : 6));
    CHECK(found.outcomes.size() == (same ? 6 : 1));
  }
}

TEST_CASE("under every schedule a deadline passes only when no process could wake in time") {
  every_frame_dies const check;
  auto const found =
      explore([] { return std::make_unique<gate>(); },
              [](std::unique_ptr<gate>& g) -> eff<void, spawning<proc, syncing>, syncing> {
                co_await spawn(
                    [](gate& at) -> eff<void, proc, syncing> {
                      co_await proc::yield{};
                      co_await syncing::wake{at};
                    },
                    std::ref(*g));
                bool const woken = co_await syncing::wait_until(*g, 0, instant() + 1ms);
                if (!woken) throw std::runtime_error("too late");
              },
              [](std::unique_ptr<gate>&) { return true; });
  CHECK(found.ok());
  CHECK(found.complete);
}

TEST_CASE("under every schedule a completion of a sleeping process comes in time or too late") {
  every_frame_dies const check;
  for (auto const until : {5ms, 15ms}) {
    auto const found =
        explore([] { return std::string(); },
                [until](std::string& to) -> eff<void, spawning<proc, timing>, completions, timing> {
                  completer<int> source;
                  auto result = source.get_completion();
                  co_await spawn(
                      [](completer<int> s) -> sleeper {
                        co_await timing::sleep_for(10ms);
                        s.complete(7);
                      },
                      std::move(source));
                  auto const n = co_await result.wait_until(instant() + until);
                  to = n ? "in time " : "too late ";
                  if (!n) to += std::to_string(co_await result.wait()) + " ";
                  to += in_ms(co_await timing::now{});
                },
                [](std::string const& s) { return s; });
    CHECK(found.ok());
    REQUIRE(found.outcomes.size() == 1);
    CHECK(found.outcomes[0].result.text == (until == 5ms ? "too late 7 10 " : "in time 10 "));
  }
}

// ---- inside handlers

BACKENDS_TEST_CASE("a process sleeps inside a handler, and is still inside when it wakes", "",
                   on_one_thread, on_locked_queue, in_random_order, on_sharing<1>, on_sharing<2>,
                   on_stealing<3>) {
  every_frame_dies const check;
  findings found;
  auto how = virtual_time(true);
  how.forkable = false;
  run_on(chosen, how, [&found]() -> program {
    struct numbers {
      int n = 0;
      int on(ask::get) { return ++n; }
    };
    auto const body = []() -> eff<int, ask, timing> {
      int const a = co_await ask::get{};
      co_await timing::sleep_for(5ms);
      int const b = co_await ask::get{};
      co_return 10 * a + b;
    };
    int const got = co_await handle<ask>(numbers(), body);
    instant const t = co_await timing::now{};
    found.add(std::to_string(got) + " at " + in_ms(t));
  });
  CHECK(found.all() == std::vector<std::string>{"12 at 5 "});
}

TEST_CASE("a sleeping process that loses a handler around it fails at once, and sleeps no longer") {
  for (bool const for_ever : {false, true}) {
    every_frame_dies const check;
    auto lost = std::make_unique<parks>();
    scheduler<> s;
    auto const body = [for_ever]() -> eff<void, tick, timing> {
      co_await timing::sleep_for(for_ever ? instant::duration::max() : 1h);
    };
    s.start({.forkable = false},
            [&lost, body]() -> eff<void, timing> { co_await handle<tick>(*lost, body); });
    s.step();
    lost.reset();
    std::string what;
    try {
      s.run();
    } catch (resumption_expired const& e) {
      what = e.what();
    }
    CHECK_THAT(what, Contains("process 1 was suspended by weft::timing::sleep_for at") &&
                         Contains("parks, which no longer exists"));
    CHECK(s.alive() == 0);
  }
}

TEST_CASE("a process that waits with a deadline and loses a handler around it fails once") {
  gate g;
  external_event o;
  auto const loses = [](auto body) {
    every_frame_dies const check;
    auto lost = std::make_unique<parks>();
    scheduler<> s;
    s.start({.forkable = false}, [&lost, body]() -> eff<void, syncing, completions> {
      co_await handle<tick>(*lost, body);
    });
    s.step();
    lost.reset();
    CHECK_THROWS_AS(s.run(), resumption_expired);
    CHECK(s.alive() == 0);
  };
  loses([&g]() -> eff<void, tick, syncing> {
    (void)co_await syncing::wait_until(g, 0, instant::max());
  });
  CHECK(g.waiting() == 0);
  loses([&o]() -> eff<void, tick, completions> {
    (void)co_await completions::wait_until(o, instant::max());
  });
  loses([&o]() -> eff<void, tick, completions> { co_await completions::wait(o); });
  o.open();
}

TEST_CASE("a body that is resumed bitwise cannot sleep, since its frames are copied") {
  every_frame_dies const check;
  external_event o;
  gate g;
  int refused = 0;
  // Runs a body that waits after a pick, and counts the exception.
  auto const tries = [&refused](auto waits) {
    schedule({.forkable = false, .virtual_time = true},
             [&refused, waits]() -> eff<void, timing, syncing, completions> {
               auto const body = [waits]() -> eff<int, pick, timing, syncing, completions> {
                 int const n = co_await pick::one{};
                 co_await waits();
                 co_return n;
               };
               bool thrown = false;
               try {
                 (void)co_await handle<pick>(tries_picks<>{2}, body, bitwise());
               } catch (frames_in_use const&) {
                 thrown = true;
               }
               refused += thrown;
             });
  };
  tries([]() -> eff<void, timing> { co_await timing::sleep_for(1ms); });
  tries([]() -> eff<void, timing> { co_await timing::sleep_until(instant()); });
  tries([&g]() -> eff<void, syncing> { (void)co_await syncing::wait_until(g, 0, instant()); });
  tries([&o]() -> eff<void, completions> { co_await completions::wait(o); });
  tries([&o]() -> eff<void, completions> { (void)co_await completions::wait_until(o, instant()); });
  CHECK(refused == 5);
}
