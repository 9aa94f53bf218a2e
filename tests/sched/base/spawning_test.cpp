// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/law_programs.hpp"
#include "tests/support/printing_programs.hpp"

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

TEST_CASE("spawned processes spawn others, whose rows are smaller, or empty") {
  CHECK(printed_by(has_grandchildren) == "parent child grandchild ");
}

TEST_CASE("a child may perform an operation that its parent may not, if spawning names it") {
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
      bool const found = what.find("proc::fork at tests/sched/base/spawning_test.cpp") != what.npos;
      if (found) what = "refused ";
      co_await console::print{what};
      co_await proc::yield{};
      co_await console::print{"and goes on "};
    });
  };
  CHECK(printed_by(p) == "refused fork true fork false and goes on ");
}

TEST_CASE("a parent that is run again neither spawns again nor calls the spawned function again") {
  CHECK(printed_by(spawns_before_it_forks) == "child other end end end end ");
}

TEST_CASE("a child does not see the handlers inside its parent") {
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

TEST_CASE("an exception of a call of a spawned function is thrown at the spawn, in replays too") {
  CHECK(printed_by(spawns_in_vain) == "2 2 ");
}

TEST_CASE("a hundred thousand processes each yield once") {
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

TEST_CASE("the children of a process that forks in a loop each do their part") {
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

TEST_CASE("a chain of forks, each made by the child of the one before, comes to its end") {
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

// ---- the ids of processes

TEST_CASE("spawn yields the id of the process that it starts") {
  std::vector<process_id> told;
  std::vector<process_id> own;
  auto const p = [&told, &own]() -> program {
    auto const child = [](std::vector<process_id>& to) -> eff<void, syncing> {
      process_id const id = co_await syncing::own{};
      to.push_back(id);
    };
    for (int i = 0; i != 3; ++i) {
      process_id const id = co_await spawn(child, std::ref(own));
      told.push_back(id);
    }
    process_id const id = co_await spawn(forkable, [&own, child] { return child(own); });
    told.push_back(id);
  };
  CHECK(printed_by(p).empty());
  CHECK(told.size() == 4);
  CHECK(told == own);
  CHECK(told[0].text() == "1.1");
  CHECK(told[3].text() == "1.4");
}

TEST_CASE("a spawn that waits for room yields the id of the process that it starts") {
  std::vector<process_id> told;
  std::vector<process_id> own;
  auto const p = [&told, &own]() -> program {
    for (int i = 0; i != 9; ++i) {
      process_id const id = co_await spawn(
          [](std::vector<process_id>& to) -> eff<void, syncing> {
            process_id const me = co_await syncing::own{};
            to.push_back(me);
          },
          std::ref(own));
      told.push_back(id);
    }
  };
  bool const keeps_log = GENERATE(false, true);
  CHECK(printed_by({.forkable = keeps_log, .max_processes = 2, .when_full = overflow_policy::wait},
                   p) == "");
  CHECK(told.size() == 9);
  CHECK(told == own);
}

TEST_CASE("children have the same ids, whether the coroutine or the scheduler starts them") {
  std::vector<process_id> told;
  std::vector<process_id> own;
  auto const p = [&told, &own]() -> program {
    auto const child = [](std::vector<process_id>& to) -> eff<void, syncing> {
      process_id const id = co_await syncing::own{};
      to.push_back(id);
    };
    auto const waits = [](std::vector<process_id>& to) -> eff<void, proc, syncing> {
      co_await proc::yield{};
      process_id const id = co_await syncing::own{};
      to.push_back(id);
    };
    auto const throws = [](int i) -> eff<void> {
      if (i >= 0) throw i;
      return []() -> eff<void> { co_return; }();
    };
    for (int i = 0; i != 100; ++i) {
      process_id id;
      try {
        if (i % 4 == 3)
          id = co_await spawn(throws, i);  // uses up a number
        else if (i % 4 == 2)
          id = co_await spawn(waits, std::ref(own));
        else
          id = co_await spawn(child, std::ref(own));
      } catch (int) {
        continue;
      }
      told.push_back(id);
    }
  };
  // Where the parent keeps a log, or processes are limited, the scheduler starts each of them.
  bool const keeps_log = GENERATE(false, true);
  std::size_t const most = GENERATE(std::size_t{0}, std::size_t{1000});
  CHECK(printed_by({.forkable = keeps_log, .max_processes = most}, p).empty());
  REQUIRE(told.size() == 75);
  for (std::uint64_t i = 0; i != 75; ++i)
    REQUIRE(told[i] == process_id().child(i / 3 * 4 + i % 3 + 1));
  std::ranges::sort(own);
  std::ranges::sort(told);
  CHECK(own == told);
}

TEST_CASE(
    "a process run again spawns the same ids, and consecutive ids take one entry of its log") {
  constexpr int many = 600;  // ids of 8, 12 and 16 bits a step
  std::vector<std::vector<process_id>> told;
  auto const p = [&told]() -> program {
    std::vector<process_id> mine;
    for (int i = 0; i != many; ++i) {
      process_id const id = co_await spawn([]() -> eff<void> { co_return; });
      mine.push_back(id);
    }
    co_await proc::fork{};
    process_id const later = co_await spawn([]() -> eff<void> { co_return; });
    mine.push_back(later);
    told.push_back(mine);
  };
  CHECK(printed_by({.log_limit = 3}, p).empty());
  REQUIRE(told.size() == 2);
  REQUIRE(told[0].size() == many + 1);
  for (std::size_t i = 0; i != many; ++i) REQUIRE(told[0][i] == process_id().child(i + 1));
  CHECK(told[0].back() != told[1].back());
  told[0].pop_back();
  told[1].pop_back();
  CHECK(told[0] == told[1]);
}

TEST_CASE("ids that are hashes take an entry of the log each, and come back in a replay") {
  // A path of 15 steps, of 4 bits each: the next step is a hash.
  struct deeper {
    static program go(int left, std::vector<std::vector<process_id>>& told) {
      if (left != 0) {
        co_await spawn(forkable, [left, &told] { return go(left - 1, told); });
        co_return;
      }
      std::vector<process_id> mine;
      for (int i = 0; i != 20; ++i) {
        process_id const id = co_await spawn([]() -> eff<void> { co_return; });
        mine.push_back(id);
      }
      co_await proc::fork{};
      told.push_back(mine);
    }
  };
  std::vector<std::vector<process_id>> told;
  CHECK(printed_by([&told] { return deeper::go(15, told); }).empty());
  REQUIRE(told.size() == 2);
  CHECK(told[0] == told[1]);
  for (std::size_t i = 0; i != 20; ++i) {
    CHECK(told[0][i].text()[0] == '#');
    for (std::size_t j = 0; j != i; ++j) CHECK(told[0][i] != told[0][j]);
  }
}

TEST_CASE("nth_after(n) of a child is the id that its parent gives n starts later") {
  process_id parent;
  for (std::uint64_t step : {1u, 7u, 8u, 63u, 64u, 5u, 512u}) {
    for (std::uint64_t i : {1u, 2u, 6u, 7u, 8u, 62u, 64u, 511u, 513u, 4000u})
      for (std::uint32_t n : {0u, 1u, 2u, 60u, 500u, 5000u}) {
        process_id const child = parent.child(i);
        bool const is_hash = child.text()[0] == '#';
        CHECK(child.nth_after(n) == (is_hash ? process_id() : parent.child(i + n)));
      }
    parent = parent.child(step);
  }
  CHECK(process_id::submitted(6).nth_after(3) == process_id::submitted(9));
}
