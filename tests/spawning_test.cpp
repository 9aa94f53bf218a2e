// SPDX-License-Identifier: MIT
#include "sched/spawning.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "effects/effects.hpp"
#include "sched/schedule.hpp"
#include "tests/support/effects.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/law_programs.hpp"
#include "tests/support/schedules.hpp"

using namespace weft;
using namespace weft::tests;

namespace {

using children = spawning<proc, console, syncing>;
using program = eff<void, children, proc, console, syncing>;

}  // namespace

TEST_CASE("a spawned process runs in its turn, with its arguments moved in") {
  auto const p = []() -> program {
    std::string const kept = "b";
    co_await spawn(says, kept);
    co_await spawn(
        [](std::unique_ptr<std::string> s) -> eff<void, console> { co_await console::print{*s}; },
        std::make_unique<std::string>("c"));
    co_await console::print{"a"};
    co_await proc::yield{};
    co_await console::print{"d" + kept};
  };
  CHECK(printed_by(p) == "abcdb");
}

TEST_CASE("std::ref lends a variable to a spawned process") {
  int n = 0;
  auto const p = [&n]() -> program {
    for (int i = 0; i != 3; ++i)
      co_await spawn(
          [](int& to) -> eff<void, proc> {
            ++to;
            co_await proc::yield{};
            ++to;
          },
          std::ref(n));
  };
  CHECK(printed_by(p).empty());
  CHECK(n == 6);
}

TEST_CASE("children have children, whose rows are smaller, or empty") {
  CHECK(printed_by(has_grandchildren) == "parent child grandchild ");
}

TEST_CASE("a child may perform what its parent may not, if spawning names it") {
  auto const p = []() -> eff<void, spawning<ask, console>> {
    co_await spawn([]() -> eff<void, ask, console> {
      int const n = co_await ask::get{};
      co_await console::print{std::to_string(n)};
    });
  };
  CHECK(printed_by(p, answers{7}) == "7");
}

TEST_CASE("a process that was spawned forkable forks, and one that was not does not") {
  auto const p = []() -> program {
    auto const forks = [word = std::string("fork ")]() -> program {
      bool const first = co_await proc::fork{};
      std::string const what = word + (first ? "true " : "false ");
      co_await console::print{what};
    };
    co_await spawn(forkable, forks);
    co_await spawn([]() -> program {
      std::string what;
      try {
        co_await proc::fork{};
      } catch (unforkable const& e) {
        what = e.what();
      }
      bool const found = what.find("proc::fork at tests/spawning_test.cpp") != what.npos;
      if (found) what = "refused ";
      co_await console::print{what};
      co_await proc::yield{};
      co_await console::print{"and goes on "};
    });
  };
  CHECK(printed_by(p) == "refused fork true fork false and goes on ");
}

TEST_CASE("a parent that is run again spawns nothing again, nor calls") {
  CHECK(printed_by(spawns_before_it_forks) == "child other end end end end ");
}

TEST_CASE("a child does not see the handlers inside who spawns it") {
  auto const body = []() -> eff<void, spawning<ask, console>, ask, console> {
    int const n = co_await ask::get{};
    co_await console::print{"parent " + std::to_string(n) + " "};
    co_await spawn([]() -> eff<void, ask, console> {
      int const mine = co_await ask::get{};
      co_await console::print{"child " + std::to_string(mine)};
    });
  };
  auto const p = [body]() -> eff<void, spawning<ask, console>, ask, console> {
    co_await handle<ask>(answers{1}, body);
  };
  CHECK(printed_by(p, answers{2}) == "parent 1 child 2");
}

TEST_CASE("what a spawned function throws when it is called arises at the spawn, in replays too") {
  CHECK(printed_by(spawns_in_vain) == "2 2 ");
}

TEST_CASE("a hundred thousand processes all yield once") {
  int n = 0;
  auto const p = [&n]() -> program {
    for (int i = 0; i != 100'000; ++i)
      co_await spawn(
          [](int& to) -> eff<void, proc> {
            co_await proc::yield{};
            ++to;
          },
          std::ref(n));
  };
  CHECK(printed_by(p).empty());
  CHECK(n == 100'000);
}

TEST_CASE("a process that forks in a loop has children that each do their part") {
  int n = 0;
  auto const p = [&n]() -> program {
    for (int i = 0; i != 500; ++i) {
      bool const parent = co_await proc::fork{};
      if (!parent) {
        ++n;
        co_return;
      }
    }
  };
  CHECK(printed_by(p).empty());
  CHECK(n == 500);
}

TEST_CASE("a chain of forks, each made by the last one's child, comes to its end") {
  int n = 0;
  auto const p = [&n]() -> program {
    for (int i = 0; i != 300; ++i) {
      bool const parent = co_await proc::fork{};
      if (parent) {
        ++n;
        co_return;
      }
    }
  };
  CHECK(printed_by(p).empty());
  CHECK(n == 300);
}
