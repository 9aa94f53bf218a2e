// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/printing_programs.hpp"

program waits_and_says(std::reference_wrapper<gate> g, std::string what) {
  co_await syncing::wait{g};
  co_await console::print{std::move(what)};
}

TEST_CASE("processes at a gate are woken in the order in which they came") {
  gate g;
  auto const p = [&g]() -> program {
    for (char const c : {'a', 'b', 'c', 'd'})
      co_await spawn(waits_and_says, std::ref(g), std::string(1, c));
    co_await proc::yield{};
    co_await syncing::wake{g};
    co_await syncing::wake{g, 2};
    co_await console::print{"woken:"};
    co_await proc::yield{};
    co_await console::print{" " + std::to_string(g.waiting()) + " "};
    co_await syncing::wake{g, 100};
    co_await syncing::wake{g};
    co_await syncing::wake{g, 0};
  };
  CHECK(printed_by(p) == "woken:abc 1 d");
  CHECK(g.waiting() == 0);
}

TEST_CASE("a forkable process waits at a gate, and does not wait again in a replay") {
  gate g;
  auto const p = [&g]() -> program {
    bool const waits = co_await proc::fork{};
    if (waits) {
      co_await syncing::wait{g};
    } else {
      co_await proc::yield{};
      co_await syncing::wake{g};
      co_return;
    }
    bool const first = co_await proc::fork{};
    co_await console::print{first ? "true " : "false "};
  };
  CHECK(printed_by(p) == "true false ");
}

TEST_CASE("a gate that is destroyed cancels the processes that wait there, and no others") {
  auto const p = []() -> program {
    auto here = std::make_unique<gate>();
    for (int i = 0; i != 2; ++i)
      co_await spawn(
          [](gate& g) -> program {
            bool found = false;
            try {
              co_await syncing::wait{g};
            } catch (cancelled const&) {
              found = true;
            }
            co_await proc::yield{};
            co_await console::print{found ? "cancelled " : "woken "};
          },
          std::ref(*here));
    co_await proc::yield{};
    here.reset();
    co_await proc::yield{};
    co_await console::print{"goes on "};
  };
  CHECK(printed_by(p) == "goes on cancelled cancelled ");
}

program waits_forever_at_its_own() {
  gate mine;
  co_await syncing::wait{mine};
}

TEST_CASE("a gate may lie in the frame of its waiter, or of a process that ends first") {
  std::string text;
  CHECK_THROWS_AS(printed_by(waits_forever_at_its_own), deadlock);
  auto const p = []() -> program {
    gate mine;
    co_await spawn(
        [](gate& g) -> program {
          try {
            co_await syncing::wait{g};
          } catch (cancelled const&) {
          }
          co_await console::print{"over"};
        },
        std::ref(mine));
    co_await proc::yield{};
  };
  CHECK(printed_by(p) == "over");
}

TEST_CASE("a gate belongs to one scheduler while a process waits there") {
  every_frame_dies const check;
  gate shared;
  std::string first_text;
  std::string second_text;
  scheduler<> first;
  first.start([&shared]() -> program { co_await waits_and_says(shared, "first"); },
              console_to_string(first_text));
  first.step();
  REQUIRE(shared.waiting() == 1);

  auto const other = [&shared](bool waits) -> program {
    std::string what;
    try {
      if (waits) co_await syncing::wait{shared};
      if (!waits) co_await syncing::wake{shared};
    } catch (std::logic_error const& e) {
      what = e.what();
    }
    co_await proc::fork{};
    bool const refused = what.find("another scheduler") != what.npos;
    co_await console::print{refused ? "refused " : "let through "};
  };
  for (bool const waits : {true, false})
    schedule([other, waits]() -> program { co_await other(waits); },
             console_to_string(second_text));
  CHECK(second_text == "refused refused refused refused ");
  CHECK(shared.waiting() == 1);
  CHECK_THROWS_AS(first.run(), deadlock);
  CHECK(first_text.empty());

  schedule(
      [&shared]() -> program {
        co_await spawn(waits_and_says, std::ref(shared), std::string("now"));
        co_await proc::yield{};
        co_await syncing::wake{shared};
      },
      console_to_string(second_text));
  CHECK_THAT(second_text, Contains("now"));
}
