// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

using children = spawning<proc, completions>;
using program = eff<void, children, proc, completions>;

/// Waits at the event, and counts the result.
struct ends {
  counter begun = 0;
  counter opened = 0;
  counter cancelled = 0;
};
eff<void, proc, completions> waits(std::reference_wrapper<external_event> at,
                                   std::reference_wrapper<ends> how) {
  ++how.get().begun;
  try {
    co_await completions::wait{at};
    ++how.get().opened;
  } catch (cancelled const&) {
    ++how.get().cancelled;
  }
}

BACKENDS_TEST_CASE("an external event may be opened before the wait, after it, and twice", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  external_event before;
  external_event after;
  ends how;
  before.open();
  run_on(chosen, [&]() -> program {
    co_await spawn(waits, std::ref(after), std::ref(how));
    co_await waits(before, how);
    co_await proc::yield{};
    after.open();
    after.open();
  });
  CHECK(how.opened == 2);
  CHECK(after.is_open());
}

BACKENDS_TEST_CASE("a second process that waits at an external event is refused", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  external_event g;
  ends how;
  counter refused = 0;
  run_on(chosen, [&]() -> program {
    // One of the two is first; the refused one opens the event.
    for (int i = 0; i != 2; ++i)
      co_await spawn(
          [](external_event& at, ends& h, counter& n) -> eff<void, proc, completions> {
            bool second = false;
            try {
              co_await completions::wait{at};
              ++h.opened;
            } catch (std::logic_error const&) {
              second = true;
            }
            if (second) {
              ++n;
              at.open();
            }
          },
          std::ref(g), std::ref(how), std::ref(refused));
  });
  CHECK(how.opened == 1);
  CHECK(refused == 1);
}

BACKENDS_TEST_CASE(
    "an external event that is destroyed cancels the process that waits there, and no other", "",
    on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  ends how;
  bool goes_on = false;
  run_on(chosen, [&]() -> program {
    auto g = std::make_unique<external_event>();
    std::atomic<bool> is_there = false;
    co_await spawn(
        [](external_event& at, ends& h, std::atomic<bool>& there) -> eff<void, proc, completions> {
          there = true;
          co_await waits(at, h);
        },
        std::ref(*g), std::ref(how), std::ref(is_there));
    while (!is_there) co_await proc::yield{};
    for (int i = 0; chosen.threads == 1 && i != 2; ++i) co_await proc::yield{};
    if (chosen.threads == 1)
      g.reset();
    else
      g->open();  // the process may still be about to wait, and then the event must exist
    co_await proc::yield{};
    while (how.opened + how.cancelled == 0) co_await proc::yield{};
    goes_on = true;
  });
  CHECK(goes_on);
  CHECK(how.cancelled == (chosen.threads == 1));
}

BACKENDS_TEST_CASE(
    "another thread may destroy an external event, and wakes the scheduler that sleeps", "",
    on_one_thread, in_random_order, on_sharing<1>) {
  for (int round = 0; round != rounds(300); ++round) {
    every_frame_dies const check;
    ends how;
    std::atomic<bool> waits_there = false;
    auto g = std::make_unique<external_event>();
    std::thread outside([&] {
      until([&] { return waits_there.load(); });
      g.reset();
    });
    run_on(chosen, [&]() -> program {
      co_await spawn(waits, std::ref(*g), std::ref(how));
      while (how.begun == 0) co_await proc::yield{};
      waits_there = true;  // on one thread: the process has begun, and waits there
    });
    outside.join();
    if (how.cancelled != 1) FAIL("round " << round);
  }
}

BACKENDS_TEST_CASE("a failure ends a wait at an external event, and the event can be used again",
                   "", on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  for (int round = 0; round != rounds(300); ++round) {
    every_frame_dies const check;
    external_event g;
    ends how;
    auto const fails = [&]() -> program {
      co_await spawn(waits, std::ref(g), std::ref(how));
      co_await proc::yield{};
      throw std::runtime_error("as asked");
    };
    CHECK_THROWS_WITH(run_on(chosen, fails), "as asked");
    CHECK(how.opened == 0);  // a process that had not begun was dropped
    CHECK_FALSE(g.is_open());
    std::thread outside([&] { g.open(); });
    run_on(chosen, [&]() -> program { co_await waits(g, how); });
    outside.join();
    CHECK(how.opened == 1);
  }
}

TEST_CASE(
    "a scheduler is destroyed with a process at an external event that another thread opens") {
  for (int round = 0; round != rounds(5000); ++round) {
    every_frame_dies const check;
    external_event g;
    counter alive = 0;
    std::atomic<bool> go = false;
    std::thread outside([&] {
      until([&] { return go.load(); });
      g.open();
    });
    {
      scheduler<> s;
      s.start({.forkable = false}, [&]() -> program {
        co_await spawn(
            [](external_event& at, lives) -> eff<void, proc, completions> {
              co_await completions::wait{at};
            },
            std::ref(g), lives(alive));
        for (;;) co_await proc::yield{};
      });
      for (int i = 0; i != 3; ++i) s.step();
      go = true;
      for (int i = 0; i != round % 8; ++i) s.step();
    }
    if (alive != 0) FAIL("round " << round);
    outside.join();
  }
}

TEST_CASE(
    "a stopped backend of several threads leaves waiting processes, and the scheduler unwinds "
    "them") {
  for (int round = 0; round != rounds(1000); ++round) {
    every_frame_dies const check;
    external_event g;
    counter alive = 0;
    std::atomic<bool> go = false;
    std::thread outside([&] {
      until([&] { return go.load(); });
      g.open();
    });
    {
      scheduler<sharing> s(sharing_options{.threads = 2});
      s.start([&]() -> program {
        co_await spawn(
            [](external_event& at, lives) -> eff<void, proc, completions> {
              co_await completions::wait{at};
            },
            std::ref(g), lives(alive));
        co_await proc::yield{};
        go = true;
        s.base().stop();
        for (;;) co_await proc::yield{};
      });
      s.run();
    }
    outside.join();
    if (alive != 0) FAIL("round " << round);
  }
}

TEST_CASE("a refused checkpoint gives its reason while another thread opens the event") {
  for (int round = 0; round != rounds(5000); ++round) {
    every_frame_dies const check;
    external_event g;
    ends how;
    std::atomic<bool> go = false;
    std::thread outside([&] {
      until([&] { return go.load(); });
      g.open();
    });
    scheduler<> s;
    s.start([&]() -> program {
      co_await spawn(waits, std::ref(g), std::ref(how));
      for (int i = 0; i != 3; ++i) co_await proc::yield{};
    });
    for (int i = 0; i != 3; ++i) s.step();
    go = true;
    std::string why;
    try {
      (void)s.checkpoint();
    } catch (unforkable const& e) {
      why = e.what();
    }
    s.run();
    outside.join();
    if (why.empty() || how.opened != 1) FAIL("round " << round);
  }
}
