// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/printing_programs.hpp"

// ---- exit

TEST_CASE("exit in a nested call under handlers ends that process only") {
  std::string order;
  auto const inner = [&order]() -> eff<void, ask, proc> {
    leaves const innermost(order, 'i');
    co_await ask::get{};
    co_await proc::exit{};
    order += '!';
  };
  auto const p = [&order, inner]() -> program {
    leaves const outer(order, 'o');
    bool const first = co_await proc::fork{};
    if (first) co_await handle<ask>(answers{1}, inner);
    co_await console::print{first ? "true" : "false"};
  };
  CHECK(printed_by(p) == "false");
  CHECK(order == "ioo");
}

TEST_CASE("exit cannot be caught") {
  auto const p = []() -> program {
    try {
      co_await proc::exit{};
    } catch (...) {
      throw std::logic_error("caught");
    }
  };
  CHECK(printed_by(p).empty());
}

program waits_and_says(std::reference_wrapper<gate> g, std::string what) {
  co_await syncing::wait{g};
  co_await console::print{std::move(what)};
}

// ---- step by step

TEST_CASE("a step goes up to the next yield, wait or end") {
  every_frame_dies const check;
  std::string text;
  gate g;
  scheduler<> s;
  s.start(
      [&g]() -> program {
        co_await spawn(waits_and_says, std::ref(g), std::string("w"));
        co_await console::print{"a"};
        co_await proc::yield{};
        co_await syncing::wake{g};
        co_await console::print{"b"};
        bool const first = co_await proc::fork{};
        co_await console::print{first ? "t" : "f"};
        if (!first) co_await proc::exit{};
      },
      console_to_string(text));
  std::vector<std::string> seen;
  std::vector<std::size_t> alive{s.alive()};
  while (s.step()) {
    seen.push_back(std::exchange(text, {}));
    alive.push_back(s.alive());
  }
  CHECK(seen == std::vector<std::string>{"a", "", "b", "w", "t", "f"});
  CHECK(alive == std::vector<std::size_t>{1, 2, 2, 3, 2, 1, 0});
  CHECK_FALSE(s.step());
  s.run();
}

TEST_CASE("a scheduler can be started once only, with any row") {
  every_frame_dies const check;
  std::string text;
  scheduler<> s;
  s.start([]() -> program { co_return; }, console_to_string(text));
  CHECK_THROWS_AS(s.start([]() -> program { co_return; }, console_to_string(text)),
                  std::logic_error);
  scheduler<> pure;
  pure.start([]() -> eff<void> { co_return; });
  CHECK_THROWS_AS(pure.start([]() -> eff<void> { co_return; }), std::logic_error);
  CHECK(pure.alive() == 1);
  pure.run();
}

TEST_CASE("a scheduler refuses to run from inside its own processes") {
  every_frame_dies const check;
  scheduler<> s;
  int refused = 0;
  s.start([&s, &refused]() -> eff<void, proc> {
    co_await proc::yield{};
    try {
      s.run();
    } catch (std::logic_error const&) {
      ++refused;
    }
    try {
      s.step();
    } catch (std::logic_error const&) {
      ++refused;
    }
    try {
      (void)s.checkpoint();
    } catch (std::logic_error const&) {
      ++refused;
    }
  });
  s.run();
  CHECK(refused == 3);
}

TEST_CASE(
    "a scheduler refuses to run from a destructor of an unwound process, or a call of a program") {
  every_frame_dies const check;
  scheduler<> s;
  int refused = 0;
  struct runs {
    scheduler<>& s;
    int& refused;
    ~runs() {
      try {
        s.step();
      } catch (std::logic_error const&) {
        ++refused;
      }
    }
  };
  s.start([&s, &refused]() -> eff<void, proc> {
    runs const call{s, refused};
    return [](scheduler<>& here, int& n) -> eff<void, proc> {
      runs const inside{here, n};
      bool const first = co_await proc::fork{};
      if (first) co_await proc::exit{};
      throw std::runtime_error("over");
    }(s, refused);
  });
  CHECK_THROWS_WITH(s.run(), "over");
  CHECK(refused == 4);
}

eff<void, proc, console> says_twice(std::string what) {
  co_await console::print{what};
  co_await proc::yield{};
  co_await console::print{what};
}

TEST_CASE("a schedule inside a process is a call like any other") {
  auto const p = []() -> program {
    std::string inner;
    co_await spawn(says_twice, std::string("o"));
    co_await proc::yield{};
    schedule(
        []() -> eff<void, spawning<proc, console>, proc, console> {
          co_await spawn(says_twice, std::string("x"));
          co_await says_twice("y");
        },
        console_to_string(inner));
    co_await console::print{inner};
    co_await proc::yield{};
    co_await console::print{"end"};
  };
  CHECK(printed_by(p) == "oyxyxoend");
}

TEST_CASE("every backend runs programs, for example a std::deque, and newest first") {
  auto const p = []() -> program {
    co_await spawn(says_twice, std::string("a"));
    co_await spawn(says_twice, std::string("b"));
    bool const first = co_await proc::fork{};
    co_await console::print{first ? "t" : "f"};
  };
  CHECK(printed_by(p) == "abtfab");
  CHECK(printed_by<locked_queue>(p) == "abtfab");
  CHECK(printed_by<locked_stack>(p) == "ftbbaa");
}

TEST_CASE("a program without a log runs with its captures, wherever it was started") {
  std::string text;
  auto const big = std::string(100, 'x');
  auto const p = [&text, big]() -> program {
    co_await proc::yield{};
    text += std::to_string(big.size());
    bool refused = false;
    try {
      co_await proc::fork{};
    } catch (unforkable const&) {
      refused = true;
    }
    co_await proc::yield{};
    text += refused ? " refused" : " forked";
  };
  every_frame_dies const check;
  schedule({.forkable = false}, p, console_to_string(text));
  CHECK(text == "100 refused");
  scheduler<> s;
  s.start({.forkable = false}, [big]() -> eff<void, proc> {
    auto const copy = std::make_unique<std::string>(big);
    co_await proc::yield{};
    if (*copy != big) throw std::logic_error("the closure is gone");
  });
  s.step();
  s.run();
}
