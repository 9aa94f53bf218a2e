// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/printing_programs.hpp"

/// Handlers that are destroyed while processes wait inside, and replays that diverge there.

using with_tick = eff<void, tick, children, proc, console, syncing>;

// ---- destroyed regions

TEST_CASE(
    "a region that ends while a process is suspended in its body ends that process, by name") {
  for (bool const log : {true, false}) {
    every_frame_dies const check;
    std::string text;
    std::string order;
    auto lost = std::make_unique<parks>();
    scheduler<> s;
    s.start(
        {.forkable = log},
        [&lost, &order]() -> program {
          leaves const outer(order, 'o');
          auto const body = [&order]() -> with_tick {
            leaves const inner(order, 'i');
            co_await ticks("k");
          };
          co_await handle<tick>(*lost, body);
          co_await console::print{"never"};
        },
        console_to_string(text));
    s.step();
    lost.reset();
    CHECK(order == "i");
    CHECK_THROWS_WITH(s.run(),
                      Contains("process 1 was suspended by weft::proc::yield at ") &&
                          Contains("inside a handler weft::tests::parks, which no longer exists"));
    CHECK(order == "io");
    CHECK(text == "k before ");
  }
}

TEST_CASE("a region in one process may end while another process is suspended in its body") {
  auto const p = []() -> program {
    auto mine = std::make_unique<parks>();
    co_await spawn(
        [](parks& of_another) -> program {
          auto const body = []() -> with_tick { co_await ticks("k"); };
          co_await handle<tick>(of_another, body);
        },
        std::ref(*mine));
    co_await proc::yield{};
    mine.reset();
    co_await proc::yield{};
  };
  CHECK_THROWS_WITH(printed_by(p), Contains("which no longer exists"));
}

TEST_CASE("a region may end while forked processes share its body and none has taken it") {
  every_frame_dies const check;
  std::string text;
  std::string order;
  auto lost = std::make_unique<parks>();
  parks stays;
  bool again = false;
  scheduler<> s;
  s.start(
      [&]() -> program {
        parks& by = std::exchange(again, true) ? stays : *lost;
        auto const body = [&order]() -> with_tick {
          leaves const end(order, 'x');
          co_await proc::fork{};
          co_await console::print{"on "};
        };
        co_await handle<tick>(by, body);
      },
      console_to_string(text));
  s.step();
  lost.reset();
  CHECK(order == "x");
  CHECK_THROWS_AS(s.run(), resumption_expired);
}

// ---- divergence behind ordinary code

TEST_CASE("a divergence behind ordinary code ends the process, even if that code catches it") {
  for (bool const outside : {true, false}) {
    bool again = false;
    int caught = 0;
    auto const p = [&again, &caught, outside]() -> program {
      bool const second = std::exchange(again, true);
      parks kept;
      auto const body = [second, outside]() -> with_tick {
        co_await tick::now{};
        if (second && outside) co_await console::print{"something else"};
        if (second && !outside) co_await proc::yield{};
      };
      co_await handle<tick>(kept, body);
      try {
        resume(std::move(kept.k));
      } catch (replay_divergence const&) {
        ++caught;
      }
      co_await proc::fork{};
    };
    CHECK_THROWS_AS(printed_by(p), replay_divergence);
    CHECK(caught == 1);
  }
}

TEST_CASE("a divergence inside handlers ends the process, and the other processes are cancelled") {
  bool again = false;
  auto const p = [&again]() -> program {
    co_await spawn([]() -> eff<void, proc, console> {
      try {
        for (;;) co_await proc::yield{};
      } catch (cancelled const&) {
      }
      co_await console::print{"cancelled"};
    });
    auto const body = [&again]() -> with_tick {
      if (std::exchange(again, true)) co_await proc::yield{};
      co_await proc::fork{};
    };
    parks unused;
    co_await handle<tick>(unused, body);
  };
  every_frame_dies const check;
  std::string text;
  CHECK_THROWS_AS(schedule(p, console_to_string(text)), replay_divergence);
  CHECK(text == "cancelled");
}

eff<void, proc> yields_twice() {
  co_await proc::yield{};
  co_await proc::yield{};
}

TEST_CASE("a process that waits for a task when a handler around it is destroyed gets an error") {
  every_frame_dies const check;
  using yields = tasking<proc>;
  auto lost = std::make_unique<parks>();
  scheduler<> s;
  s.start([&]() -> eff<void, yields, proc> {
    task_handle<void> h = co_await start_task(yields_twice);
    auto const body = [&h]() -> eff<void, tick, yields, proc> { co_await h; };
    co_await handle<tick>(*lost, body);
  });
  for (int i = 0; i != 2; ++i) (void)s.step();
  lost.reset();
  CHECK_THROWS_WITH(s.run(),
                    Contains("inside a handler weft::tests::parks, which no longer exists"));
}
