// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/printing_programs.hpp"

/// Schedulers that are destroyed with processes left.

using snapshot = scheduler<>::snapshot;

TEST_CASE("a destroyed scheduler unwinds processes that have begun, and those that have not") {
  std::string order;
  for (bool const log : {true, false}) {
    every_frame_dies const check;
    order.clear();
    std::string text;
    {
      scheduler<> s;
      s.start(
          {.forkable = log},
          [&order]() -> program {
            leaves const end(order, 'p');
            co_await spawn(
                [](std::unique_ptr<leaves> argument) -> program {
                  co_await proc::yield{};
                  argument.reset();
                },
                std::make_unique<leaves>(order, 'c'));
            co_await spawn(forkable, []() -> program { co_await proc::yield{}; });
            co_await proc::yield{};
          },
          console_to_string(text));
      s.step();
      CHECK(order.empty());
      CHECK(s.alive() == 3);
    }
    CHECK(order.size() == 2);
  }
}

TEST_CASE("a scheduler that was never started, or never run, can be destroyed") {
  every_frame_dies const check;
  std::string text;
  {
    scheduler<> const s;
    scheduler<locked_queue> other;
    CHECK_FALSE(other.step());
    other.run();
    CHECK(other.alive() == 0);
  }
  for (bool const log : {true, false}) {
    scheduler<> s;
    s.start({.forkable = log}, talks, console_to_string(text));
  }
  CHECK(text.empty());
}

TEMPLATE_TEST_CASE("a destroyed scheduler unwinds processes at gates, also at gates in frames", "",
                   one_thread, locked_queue, locked_stack) {
  every_frame_dies const check;
  std::string order;
  std::string text;
  gate outside;
  {
    scheduler<TestType> s;
    s.start(
        [&order, &outside]() -> program {
          gate mine;
          auto const waits = [](gate& at, std::string& to) -> program {
            leaves const end(to, 'w');
            gate own;
            co_await spawn([](gate& there) -> program { co_await syncing::wait{there}; },
                           std::ref(own));
            co_await syncing::wait{at};
          };
          for (gate* const g : {&mine, &outside, &mine})
            co_await spawn(waits, std::ref(*g), std::ref(order));
          for (;;) co_await proc::yield{};
        },
        console_to_string(text));
    for (int i = 0; i != 12; ++i) s.step();
  }
  if (!std::is_same_v<TestType, locked_stack>) CHECK(order == "www");  // there none has begun
  CHECK(outside.waiting() == 0);
}

TEST_CASE("a destroyed scheduler unwinds frames that forked processes share and none has taken") {
  every_frame_dies const check;
  std::string order;
  std::string text;
  {
    scheduler<> s;
    s.start(
        [&order]() -> program {
          leaves const end(order, 'x');
          for (int i = 0; i != 3; ++i) co_await proc::fork{};
        },
        console_to_string(text));
    s.step();
    CHECK(s.alive() == 2);
    s.step();
    CHECK(s.alive() == 3);
    CHECK(order.empty());
  }
  CHECK(order == "x");
}

TEST_CASE("a process that is ready is unwound with the handlers that it is in") {
  every_frame_dies const check;
  std::string order;
  std::string text;
  {
    scheduler<locked_queue> s;
    s.start(
        [&order]() -> program {
          struct with_letter : leaves {
            using leaves::leaves;
            int on(ask::get) const { return 1; }
          };
          auto const body = [&order]() -> eff<void, ask, proc> {
            leaves const end(order, 'b');
            int const n = co_await ask::get{};
            for (int i = 0; i != n; ++i) co_await proc::yield{};
          };
          with_letter h(order, 'h');
          co_await handle<ask>(h, body);
        },
        console_to_string(text));
    s.step();
  }
  CHECK(order == "bh");
}
