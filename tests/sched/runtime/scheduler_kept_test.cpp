// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/printing_programs.hpp"

/// Resumptions that handlers inside processes keep.

using with_tick = eff<void, tick, children, proc, console, syncing>;

TEST_CASE(
    "a resumption that a handler keeps is resumed in another process, and yields and exits there") {
  for (bool const log : {true, false}) {
    parks kept;
    auto const p = [&kept]() -> program {
      co_await spawn(
          [](parks& by) -> program {
            auto const body = []() -> with_tick { co_await ticks("k"); };
            co_await handle<tick>(by, body);
            co_await console::print{"first over "};
          },
          std::ref(kept));
      for (int i = 0; i != 3; ++i) co_await proc::yield{};
      co_await console::print{"second "};
      auto k = std::move(kept.k);
      co_await std::move(k)();
      co_await console::print{"second over "};
    };
    CHECK(printed_by({.forkable = log}, p) == "k before first over second k after second over ");
  }
}

TEST_CASE("a kept resumption is resumed in a process with another kind of log, or none") {
  for (bool const log : {true, false})
    for (bool const forks : {true, false}) {
      parks kept;
      auto const p = [&kept, forks]() -> program {
        auto const keeps_half = [&kept, forks]() -> program {
          auto const body = [forks]() -> with_tick {
            co_await ticks("k");
            std::string what = "yields ";
            try {
              if (forks) co_await proc::fork{};
            } catch (unforkable const&) {
              what = "refused ";
            }
            co_await proc::yield{};
            co_await console::print{what};
          };
          co_await handle<tick>(kept, body);
        };
        co_await spawn(forkable, keeps_half);
        for (int i = 0; i != 3; ++i) co_await proc::yield{};
        auto k = std::move(kept.k);
        co_await std::move(k)();
      };
      every_frame_dies const check;
      std::string text;
      try {
        schedule({.forkable = log}, p, console_to_string(text));
      } catch (resumption_empty const&) {  // in the second run there is nothing to resume
        text += "empty";
      }
      bool const refused = forks && !log;
      CHECK(text == "k before k after " + std::string(refused  ? "refused "
                                                      : !forks ? "yields "
                                                               : "empty"));
    }
}

TEST_CASE("a kept resumption may exit, which ends the process that resumed it") {
  parks kept;
  auto const p = [&kept]() -> program {
    auto const body = []() -> with_tick {
      co_await tick::now{};
      co_await proc::exit{};
    };
    co_await spawn([]() -> eff<void, console> { co_await console::print{"other"}; });
    co_await handle<tick>(kept, body);
    auto k = std::move(kept.k);
    co_await std::move(k)();
    co_await console::print{"never"};
  };
  CHECK(printed_by(p) == "other");
}

TEST_CASE("a kept resumption that ordinary code in a process resumes cannot suspend it") {
  for (bool const log : {true, false}) {
    parks kept;
    auto const p = [&kept]() -> program {
      auto const body = []() -> with_tick { co_await ticks("k"); };
      co_await handle<tick>(kept, body);
      std::string const what = refusal(std::move(kept.k));
      co_await proc::yield{};
      co_await console::print{what};
    };
    CHECK_THAT(printed_by({.forkable = log}, p),
               Contains("k before weft: weft::proc::yield at ") &&
                   Contains("would suspend ordinary code: its handler weft::scheduler"));
  }
}

TEST_CASE("an exception at an operation behind ordinary code is thrown in the next run as well") {
  auto const p = []() -> program {
    parks kept;
    auto const body = []() -> with_tick {
      co_await tick::now{};
      std::string what = "not refused ";
      try {
        co_await proc::yield{};
      } catch (needs_control const&) {
        what = "refused ";
      }
      co_await console::print{what};
    };
    co_await handle<tick>(kept, body);
    resume(std::move(kept.k));
    bool const first = co_await proc::fork{};
    co_await console::print{first ? "true " : "false "};
  };
  CHECK(printed_by(p) == "refused true false ");
}

TEST_CASE("spawns, wakes and prints pass through ordinary code") {
  gate g;
  auto const p = [&g]() -> program {
    parks kept;
    auto const body = [&g]() -> with_tick {
      co_await tick::now{};
      co_await spawn([]() -> eff<void, console> { co_await console::print{"child "}; });
      co_await syncing::wake{g};
    };
    co_await spawn(
        [](gate& at) -> program {
          co_await syncing::wait{at};
          co_await console::print{"woken "};
        },
        std::ref(g));
    co_await handle<tick>(kept, body);
    co_await proc::yield{};
    resume(std::move(kept.k));
    co_await proc::fork{};
  };
  CHECK(printed_by(p) == "child woken ");
}

TEST_CASE("a kept resumption that is resumed between two steps cannot suspend, spawn or exit") {
  for (bool const log : {true, false})
    for (int const which : {0, 1, 2, 3}) {
      every_frame_dies const check;
      std::string text;
      gate g;
      parks kept;
      scheduler<> s;
      s.start(
          {.forkable = log},
          [&kept, &g, which]() -> program {
            auto const body = [&g, which]() -> with_tick {
              co_await tick::now{};
              if (which == 0) co_await proc::yield{};
              if (which == 1) co_await syncing::wait{g};
              if (which == 2)
                co_await spawn([]() -> eff<void, console> { co_await console::print{"!"}; });
              if (which == 3) co_await proc::exit{};
            };
            co_await handle<tick>(kept, body);
            co_await proc::yield{};
            co_await console::print{"end"};
          },
          console_to_string(text));
      s.step();
      CHECK_THAT(refusal(std::move(kept.k)), Contains("or is not active here"));
      s.run();
      CHECK(text == "end");
    }
}

TEST_CASE(
    "a kept resumption that a destructor of an unwound process resumes cannot suspend or spawn") {
  for (int const which : {0, 1}) {
    every_frame_dies const check;
    std::string what;
    parks kept;
    struct resumes_at_its_end {
      parks& kept;
      std::string& what;
      ~resumes_at_its_end() { what = refusal(std::move(kept.k)); }
    };
    auto const p = [&kept, &what, which]() -> program {
      auto const body = [which]() -> with_tick {
        co_await tick::now{};
        if (which == 0) co_await proc::yield{};
        if (which == 1)
          co_await spawn([]() -> eff<void, console> { co_await console::print{"!"}; });
      };
      co_await handle<tick>(kept, body);
      co_await spawn(
          [](std::unique_ptr<resumes_at_its_end>) -> eff<void, proc> { co_await proc::yield{}; },
          std::unique_ptr<resumes_at_its_end>(new resumes_at_its_end{kept, what}));
      throw std::runtime_error("failed");  // so that the other does not even begin
    };
    std::string text;
    CHECK_THROWS_WITH(schedule({.forkable = false}, p, console_to_string(text)), "failed");
    CHECK_THAT(what, Contains("or is not active here"));
    CHECK(text.empty());
  }
}

TEST_CASE(
    "a kept resumption that a process of another scheduler resumes cannot suspend that process") {
  every_frame_dies const check;
  std::string text;
  parks kept;
  scheduler<> s;
  s.start(
      [&kept]() -> program {
        auto const body = []() -> with_tick { co_await ticks("k"); };
        co_await handle<tick>(kept, body);
        for (int i = 0; i != 3; ++i) co_await proc::yield{};
      },
      console_to_string(text));
  s.step();
  s.step();
  auto const other = [&kept]() -> eff<void, proc> {
    co_await proc::yield{};
    auto k = std::move(kept.k);
    co_await std::move(k)();
  };
  CHECK_THROWS_AS(schedule(other), needs_control);
  s.run();
}

TEST_CASE("a resumption that is kept longer than its scheduler is expired") {
  every_frame_dies const check;
  for (bool const log : {true, false}) {
    parks kept;
    std::string text;
    auto const p = [&kept]() -> program {
      auto const body = []() -> with_tick { co_await ticks("k"); };
      co_await handle<tick>(kept, body);
    };
    schedule({.forkable = log}, p, console_to_string(text));
    REQUIRE(kept.k);
    CHECK_THROWS_AS(resume(std::move(kept.k)), resumption_expired);
    auto const other = [&kept]() -> eff<void, proc> {
      auto k = std::move(kept.k);
      co_await std::move(k)();
    };
    CHECK_THROWS_AS(schedule(other), resumption_expired);
  }
}

TEST_CASE("a kept resumption may be all that is left of a destroyed scheduler") {
  every_frame_dies const check;
  std::string order;
  {
    parks kept;
    std::string text;
    schedule(
        [&kept, &order]() -> program {
          auto const body = [&order]() -> with_tick {
            leaves const end(order, 'x');
            co_await tick::now{};
            co_await proc::yield{};
          };
          co_await handle<tick>(kept, body);
        },
        console_to_string(text));
    CHECK(order.empty());
  }
  CHECK(order == "x");
}
