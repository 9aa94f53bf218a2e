// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/printing_programs.hpp"

/// Checkpoints of a scheduler.

TEST_CASE(
    "from a checkpoint after any number of steps the same future follows, two and three times") {
  every_frame_dies const check;
  for (unsigned prefix = 0;; ++prefix) {
    std::string text;
    scheduler<> s;
    s.start(talks, console_to_string(text));
    bool over = false;
    for (unsigned i = 0; i != prefix && !over; ++i) over = !s.step();
    auto const here = s.checkpoint();
    auto const alive = s.alive();
    std::vector<std::string> futures;
    for (int run = 0; run != 3; ++run) {
      text.clear();
      if (run == 0)
        s.run();
      else
        s.run(here);
      futures.push_back(text);
    }
    CHECK(futures[0] == futures[1]);
    CHECK(futures[0] == futures[2]);
    CHECK(here.alive() == alive);
    CHECK(s.alive() == 0);
    if (over) break;
  }
}

using snapshot = scheduler<>::snapshot;

TEST_CASE("many checkpoints of one run may be run in any order, each repeatedly") {
  every_frame_dies const check;
  std::string text;
  scheduler<> s;
  s.start(talks, console_to_string(text));
  std::vector<snapshot> all;
  std::vector<std::size_t> printed;
  do {
    all.push_back(s.checkpoint());
    printed.push_back(text.size());
  } while (s.step());
  auto const whole = text;
  for (std::size_t const i : {all.size() - 1, std::size_t{0}, all.size() / 2, std::size_t{2},
                              all.size() / 2, std::size_t{0}}) {
    text.clear();
    s.run(all[i]);
    CHECK(text == whole.substr(printed[i]));
  }
  text.clear();
  s.run(all[1]);
  all.erase(all.begin() + 1, all.end());
  s.run(all[0]);
  CHECK(text == whole.substr(printed[1]) + whole);
}

TEST_CASE("a checkpoint may be taken in the future of another, and outlive that one") {
  every_frame_dies const check;
  std::string text;
  scheduler<> s;
  s.start(talks, console_to_string(text));
  std::optional<snapshot> first = s.checkpoint();
  s.run(*first);
  auto const whole = std::exchange(text, {});
  s.run(*first);
  text.clear();
  {
    scheduler<> other;
    other.start(talks, console_to_string(text));
    auto const start = other.checkpoint();
    for (int i = 0; i != 3; ++i) other.step();
    auto const middle = other.checkpoint();
    auto const so_far = text;
    text.clear();
    other.run(middle);
    CHECK(so_far + text == whole);
    text.clear();
    other.run(start);
    CHECK(text == whole);
  }
}

TEST_CASE("an answer of a handler outside from before the checkpoint is the same in each run") {
  every_frame_dies const check;
  std::string text;
  counts numbers;
  scheduler<> s;
  s.start(
      []() -> eff<void, proc, ask, console> {
        int const before = co_await ask::get{};
        co_await proc::yield{};
        int const after = co_await ask::get{};
        co_await console::print{std::to_string(before) + std::to_string(after) + " "};
      },
      numbers, console_to_string(text));
  s.step();
  auto const here = s.checkpoint();
  s.run();
  s.run(here);
  s.run(here);
  CHECK(text == "12 13 14 ");
}

TEST_CASE("a checkpoint is refused if a process could not be run again") {
  every_frame_dies const check;
  gate g;
  std::string text;
  SECTION("a process without a log") {
    scheduler<> s;
    s.start(
        []() -> program {
          co_await spawn([]() -> eff<void> { co_return; });
          co_await proc::yield{};
          co_await proc::yield{};
        },
        console_to_string(text));
    (void)s.checkpoint();
    s.step();
    CHECK_THROWS_AS(s.checkpoint(), unforkable);
    s.step();
    (void)s.checkpoint();  // the process without a log has ended
    scheduler<> none;
    none.start({.forkable = false}, []() -> eff<void> { co_return; });
    CHECK_THROWS_AS(none.checkpoint(), unforkable);
  }
  SECTION("a process that waits") {
    scheduler<> s;
    s.start([&g]() -> program { co_await syncing::wait{g}; }, console_to_string(text));
    s.step();
    CHECK_THROWS_AS(s.checkpoint(), unforkable);
  }
  SECTION("a process whose log is over its limit, or full") {
    for (std::size_t const limit : {0U, 1U, 2U, 3U}) {
      scheduler<> s;
      s.start(
          {.log_limit = limit},
          []() -> program {
            co_await console::print{"a"};
            co_await proc::yield{};
            co_await console::print{"b"};
          },
          console_to_string(text));
      auto const start = s.checkpoint();
      s.step();
      if (limit < 2) {
        CHECK_THROWS_AS(s.checkpoint(), unforkable);
        s.run(start);
      } else {
        auto const here = s.checkpoint();
        text.clear();
        s.run(here);
        s.run(here);
        CHECK(text == "bb");
      }
    }
  }
}

TEST_CASE("running a checkpoint drops the processes that wait at a gate by then") {
  every_frame_dies const check;
  gate g;
  std::string order;
  std::string text;
  scheduler<> s;
  s.start(
      [&g, &order]() -> program {
        leaves const end(order, 'x');
        co_await proc::yield{};
        bool const waits = co_await proc::fork{};
        if (waits) co_await syncing::wait{g};
        if (!waits) co_await proc::yield{};
        if (!waits) co_await syncing::wake{g};
        co_await console::print{waits ? "woken " : "woke "};
      },
      console_to_string(text));
  s.step();
  auto const here = s.checkpoint();
  s.step();
  s.step();
  REQUIRE(g.waiting() == 1);
  REQUIRE(order.empty());
  s.run(here);
  CHECK(text == "woke woken ");
  CHECK(g.waiting() == 0);
  CHECK(s.alive() == 0);
  s.run(here);
  CHECK(text == "woke woken woke woken ");
}

TEST_CASE("after a return to a checkpoint processes wait for external events as before") {
  every_frame_dies const check;
  std::optional<external_event> event;
  int came = 0;
  scheduler<> s;
  s.start([&]() -> eff<void, proc, completions> {
    co_await proc::yield{};
    bool const waits = co_await proc::fork{};
    if (waits) {
      event.emplace();
      co_await completions::wait{*event};
      ++came;
    } else {
      co_await proc::yield{};
      event->open();
    }
  });
  s.step();
  auto const here = s.checkpoint();
  s.step();
  s.step();
  REQUIRE(came == 0);
  s.run(here);
  CHECK(came == 1);
  CHECK(s.alive() == 0);
}

TEST_CASE("a failure after the checkpoint is not part of it, and one before is") {
  every_frame_dies const check;
  bool fail = true;
  std::string text;
  scheduler<> s;
  s.start(
      [&fail]() -> program {
        bool const first = co_await proc::fork{};
        co_await proc::yield{};
        if (first && fail) throw std::runtime_error("the first failed");
        std::string found = "went on ";
        try {
          co_await proc::yield{};
        } catch (cancelled const&) {
          found = "cancelled ";
        }
        co_await console::print{found};
      },
      console_to_string(text));
  for (int i = 0; i != 3; ++i) s.step();
  auto const before = s.checkpoint();
  s.step();  // the first process fails
  auto const after = s.checkpoint();
  fail = false;
  s.run(before);
  CHECK(std::exchange(text, {}) == "went on went on ");
  for (int run = 0; run != 2; ++run) {
    CHECK_THROWS_WITH(s.run(after), "the first failed");
    CHECK(text.empty());  // its frames had been resumed: it is not run again only to be cancelled
  }
  s.run(before);
  CHECK(text == "went on went on ");
}

TEST_CASE("a checkpoint is of use while its scheduler lives, and may outlive it") {
  every_frame_dies const check;
  std::string order;
  std::optional<snapshot> kept;
  {
    std::string text;
    scheduler<> s;
    s.start(
        [&order]() -> program {
          leaves const end(order, 'x');
          co_await proc::fork{};
          co_await proc::yield{};
        },
        console_to_string(text));
    for (int i = 0; i != 2; ++i) s.step();
    kept = s.checkpoint();
    s.step();
  }
  CHECK(order == "xx");
}

TEST_CASE("a process that keeps a checkpoint of itself does not leak") {
  for (int const steps : {0, 1, 2, 5, 100}) {
    every_frame_dies const check;
    std::string text;
    auto* slot = static_cast<std::optional<snapshot>*>(nullptr);
    scheduler<> s;
    s.start(
        [&slot]() -> program {
          std::optional<snapshot> mine;
          if (!slot) slot = &mine;
          co_await proc::fork{};
          co_await proc::yield{};
          co_await proc::yield{};
        },
        console_to_string(text));
    s.step();
    REQUIRE(slot);
    *slot = s.checkpoint();
    for (int i = 0; i != steps; ++i) s.step();
  }
}
