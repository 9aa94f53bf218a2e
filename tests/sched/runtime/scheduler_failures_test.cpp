// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/cancellation.hpp"

eff<void, proc> fails_after(int yields, std::string what) {
  for (int i = 0; i != yields; ++i) co_await proc::yield{};
  throws(what);
}

// ---- exceptions

TEST_CASE("an exception is thrown again once the other processes have been cancelled and unwound") {
  auto const p = []() -> program {
    co_await spawn(tells_of_cancellation, std::string("a "));
    co_await spawn(fails_after, 2, std::string("failed"));
    co_await spawn(tells_of_cancellation, std::string("b "));
  };
  CHECK(end_of(p) == "b cancelled a cancelled  [failed]");
}

TEST_CASE(
    "several exceptions are thrown together, each with its process, in the order of failing") {
  auto const p = []() -> program {
    co_await spawn(fails_after, 1, std::string("first"));  // 1.1
    co_await spawn([]() -> eff<void, proc> {               // 1.2
      try {
        co_await proc::yield{};
        co_await proc::yield{};
      } catch (cancelled const&) {
        throws("while cancelled");
      }
    });
    bool const parent = co_await proc::fork{};  // 1.3
    if (!parent) co_await tells_of_cancellation("fork ");
    co_await proc::yield{};
    co_await proc::yield{};
  };
  CHECK(end_of(p) == "fork cancelled  [1.1: first] [1.2: while cancelled]");
}

TEST_CASE("a process that has not begun when another fails does not begin") {
  auto const p = []() -> program {
    co_await spawn(fails_after, 0, std::string("failed"));
    co_await spawn(
        [](std::unique_ptr<int>) -> eff<void, console> { co_await console::print{"started"}; },
        std::make_unique<int>(1));
    co_await spawn(forkable, []() -> program { co_await console::print{"started"}; });
  };
  CHECK(end_of(p) == " [failed]");
}

TEST_CASE("a process that catches cancelled for ever is unwound after a hundred times") {
  std::string order;
  int caught = 0;
  auto const p = [&order, &caught]() -> program {
    co_await spawn(
        [](std::string& to, int& n) -> program {
          leaves const end(to, 'x');
          for (;;) {
            try {
              co_await proc::yield{};
            } catch (cancelled const&) {
              ++n;
            }
          }
        },
        std::ref(order), std::ref(caught));
    co_await spawn(fails_after, 1, std::string("failed"));
  };
  CHECK(end_of(p) == " [failed]");
  CHECK(caught == 100);
  CHECK(order == "x");
}

TEST_CASE("a process that waits again each time that it is cancelled is unwound as well") {
  gate g;
  int caught = 0;
  auto const p = [&g, &caught]() -> program {
    co_await spawn(
        [](gate& at, int& n) -> program {
          for (;;) {
            try {
              co_await syncing::wait{at};
            } catch (cancelled const&) {
              ++n;
            }
          }
        },
        std::ref(g), std::ref(caught));
    co_await spawn(fails_after, 1, std::string("failed"));
  };
  CHECK(end_of(p) == " [failed]");
  CHECK(caught == 100);
  CHECK(g.waiting() == 0);
}

program waits(std::reference_wrapper<gate> g) { co_await syncing::wait{g}; }

TEST_CASE("clean-up may print, wake, fork and spawn, and is cancelled again at a yield") {
  gate g;
  auto const p = [&g]() -> program {
    co_await spawn(waits, std::ref(g));
    co_await spawn(forkable, [&g]() -> program {
      bool was_cancelled = false;
      try {
        co_await proc::yield{};
        co_await proc::yield{};
      } catch (cancelled const&) {
        was_cancelled = true;
      }
      if (!was_cancelled) throws("not cancelled");
      co_await console::print{"cleaning "};
      co_await syncing::wake{g};
      co_await spawn(fails_after, 0, std::string("a new one"));
      int again = 0;
      try {
        co_await proc::fork{};
      } catch (cancelled const&) {
        ++again;
      }
      try {
        co_await proc::yield{};
      } catch (cancelled const&) {
        ++again;
      }
      co_await console::print{std::to_string(again)};
    });
    co_await spawn(fails_after, 1, std::string("failed"));
  };
  CHECK(end_of(p) == "cleaning 2 [failed]");
}

TEST_CASE("a failure cancels the processes that wait at gates") {
  gate one;
  gate two;
  auto const p = [&one, &two]() -> program {
    for (gate* const g : {&one, &two, &one})
      co_await spawn(
          [](gate& at) -> program {
            bool found = false;
            try {
              co_await syncing::wait{at};
            } catch (cancelled const&) {
              found = true;
            }
            co_await console::print{found ? "c" : "w"};
          },
          std::ref(*g));
    co_await proc::yield{};
    throws("failed");
  };
  CHECK(end_of(p) == "ccc [failed]");
}

TEST_CASE("a cancelled process that ends with cancelled is not reported as a failure") {
  auto const p = []() -> program {
    co_await spawn([]() -> eff<void, proc> { co_await fails_after(100, "never"); });
    co_await spawn(fails_after, 0, std::string("failed"));
  };
  CHECK(end_of(p) == " [failed]");
}

TEST_CASE(
    "a process cancelled by the end of its gate that does not catch it fails like any other") {
  auto const p = []() -> program {
    auto here = std::make_unique<gate>();
    co_await spawn(waits, std::ref(*here));
    co_await proc::yield{};
    here.reset();
  };
  CHECK_THROWS_AS(schedule(p, console_to_stream(std::cout)), cancelled);
}

TEST_CASE("an exception of a process need not be a std::exception") {
  CHECK_THROWS_AS(schedule([]() -> eff<void> {
                    throw 5;
                    co_return;
                  }),
                  int);
}

TEST_CASE("a scheduler that failed has no process left, and can be run again") {
  every_frame_dies const check;
  scheduler<> s;
  s.start([]() -> eff<void, proc> { co_await fails_after(1, "failed"); });
  CHECK(s.step());
  CHECK(s.step());  // the process throws here
  CHECK(s.alive() == 0);
  CHECK_THROWS_WITH(s.step(), "failed");
  CHECK_FALSE(s.step());
  s.run();
}

TEST_CASE("step by step, the failure is thrown when no process is left") {
  every_frame_dies const check;
  std::string text;
  scheduler<> s;
  s.start(
      []() -> program {
        co_await spawn(tells_of_cancellation, std::string("a "));
        throws("failed");
      },
      console_to_string(text));
  CHECK(s.step());
  CHECK_THROWS_WITH(s.step(), "failed");
  CHECK(text.empty());  // a had not begun
}
