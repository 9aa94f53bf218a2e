// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/printing_programs.hpp"

/// Handlers inside processes: between the scheduler and the operations performed to it.

eff<void, state<int>, proc, console> counts_up(std::string name) {
  for (int i = 0; i != 2; ++i) {
    int const n = co_await state<int>::get{};
    co_await proc::yield{};
    co_await state<int>::put{n + 1};
    co_await console::print{name + std::to_string(n + 1) + " "};
  }
}

// ---- yields and forks under handlers

TEST_CASE("the state inside a process is its own, and a fork copies it") {
  auto const p = []() -> program {
    co_await spawn([]() -> eff<void, proc, console> {
      auto const body = []() -> eff<void, state<int>, proc, console> { co_await counts_up("s"); };
      co_await handle<state<int>>(state_of(10), body);
    });
    auto const body = []() -> eff<void, state<int>, proc, console> {
      co_await state<int>::put{1};
      bool const first = co_await proc::fork{};
      co_await counts_up(first ? "t" : "f");
    };
    co_await handle<state<int>>(state_of(0), body);
  };
  CHECK(printed_by(p) == "s11 t2 f2 s12 t3 f3 ");
}

TEST_CASE(
    "handlers are installed and removed between yields, in processes with a log and without") {
  for (bool const log : {true, false}) {
    auto const p = []() -> program {
      auto const asks_and_yields = []() -> eff<void, ask, proc, console> {
        int const n = co_await ask::get{};
        co_await proc::yield{};
        co_await console::print{std::to_string(n)};
      };
      for (int i = 0; i != 3; ++i) {
        co_await handle<ask>(answers{i}, asks_and_yields);
        co_await proc::yield{};
        co_await proc::yield{};
      }
    };
    CHECK(printed_by({.forkable = log}, p) == "012");
  }
}

TEST_CASE("a failure leaves a process that yielded under it, and its frames are destroyed") {
  std::string order;
  auto const p = [&order]() -> program {
    auto const body = [&order]() -> eff<void, failure<int>, proc> {
      leaves const end(order, 'x');
      co_await proc::yield{};
      bool const first = co_await proc::fork{};
      if (first) co_await failure<int>::fail{1};
      co_await proc::yield{};
    };
    bool const came_through = co_await handle<failure<int>>(failure_to_optional<int>(), body);
    co_await console::print{came_through ? "through " : "failed "};
  };
  CHECK(printed_by(p) == "failed through ");
  CHECK(order == "xx");
}

TEST_CASE("a coroutine clause yields before and after it resumes") {
  auto const p = []() -> program {
    struct yields : handler<tick> {
      eff<void, proc, console> on(tick::now, resumption<void> k) const {
        co_await console::print{"( "};
        co_await proc::yield{};
        co_await std::move(k)();
        co_await proc::yield{};
        co_await console::print{") "};
      }
    };
    co_await spawn([]() -> program {
      for (int i = 0; i != 3; ++i) {
        co_await console::print{"- "};
        co_await proc::yield{};
      }
    });
    auto const body = []() -> eff<void, tick, proc, console> {
      co_await tick::now{};
      co_await proc::yield{};
      co_await console::print{"x "};
    };
    co_await handle<tick>(yields(), body);
  };
  CHECK(printed_by(p) == "( - - x - ) ");
}

TEST_CASE("an exception of a cancelled process passes the handlers that it is in") {
  std::string order;
  auto const p = [&order]() -> program {
    co_await spawn(
        [](std::string& to) -> eff<void, proc> {
          auto const body = [&to]() -> eff<void, ask, proc> {
            leaves const end(to, 'i');
            int const n = co_await ask::get{};
            for (int i = 0; i != 10 * n; ++i) co_await proc::yield{};
          };
          try {
            co_await handle<ask>(answers{1}, body);
          } catch (cancelled const&) {
            to += 'c';
          }
        },
        std::ref(order));
    co_await proc::yield{};
    throw std::runtime_error("failed");
  };
  CHECK_THROWS_WITH(printed_by(p), "failed");
  CHECK(order == "ic");
}

struct flip {
  struct coin : op<bool> {};
  using operations = op_list<coin>;
};
/// Resumes with true, then with false.
struct both : handler<flip> {
  eff<void> on(flip::coin, multi_resumption<bool, void> k) const {
    co_await k(true);
    co_await k(false);
  }
};

// ---- multi-shot inside

TEST_CASE("an inner multi-shot handler resumes twice a body that yielded in between") {
  for (bool const log : {true, false}) {
    auto const p = []() -> program {
      co_await spawn([]() -> eff<void, proc, console> {
        for (int i = 0; i != 2; ++i) {
          co_await console::print{"- "};
          co_await proc::yield{};
        }
      });
      auto const body = []() -> eff<void, flip, proc, console> {
        co_await console::print{"once "};
        co_await proc::yield{};
        bool const first = co_await flip::coin{};
        co_await proc::yield{};
        bool const second = co_await flip::coin{};
        co_await console::print{std::string(first ? "1" : "0") + (second ? "1 " : "0 ")};
      };
      co_await handle<flip>(both(), body);
      co_await console::print{"end "};
    };
    CHECK(printed_by({.forkable = log}, p) == "once - - 11 10 01 00 end ");
  }
}

TEST_CASE(
    "a fork inside an inner multi-shot handler doubles the process, with the rest of its work") {
  auto const p = []() -> program {
    auto const body = []() -> eff<void, flip, proc, console> {
      bool const coin = co_await flip::coin{};
      bool const first = co_await proc::fork{};
      co_await console::print{std::string(coin ? "h" : "t") + (first ? "1 " : "0 ")};
    };
    co_await handle<flip>(both(), body);
    co_await console::print{"end "};
  };
  // Each process that came by h continues to t, and forks there.
  auto const text = printed_by(p);
  CHECK(text == "h1 h0 t1 end t0 end t1 end t0 end ");
}

TEST_CASE("a fork before an inner multi-shot handler gives each process its own handler") {
  auto const p = []() -> program {
    bool const first = co_await proc::fork{};
    std::string const name = first ? "a" : "b";
    auto const body = [name]() -> eff<void, flip, proc, console> {
      co_await proc::yield{};
      bool const coin = co_await flip::coin{};
      co_await console::print{name + (coin ? "1 " : "0 ")};
    };
    co_await handle<flip>(both(), body);
  };
  CHECK(printed_by(p) == "a1 a0 b1 b0 ");
}

TEST_CASE("a wait after an operation of an inner multi-shot handler happens for each resumption") {
  gate g;
  auto const p = [&g]() -> program {
    auto const body = [&g]() -> eff<void, flip, children, proc, console, syncing> {
      co_await spawn([]() -> eff<void, console> { co_await console::print{"child "}; });
      co_await syncing::wait{g};
      bool const coin = co_await flip::coin{};
      co_await syncing::wait{g};
      co_await console::print{coin ? "1 " : "0 "};
    };
    co_await spawn(
        [](gate& at) -> program {
          for (int i = 0; i != 3; ++i) {
            co_await proc::yield{};
            co_await syncing::wake{at};
          }
        },
        std::ref(g));
    co_await handle<flip>(both(), body);
  };
  CHECK(printed_by(p) == "child 1 0 ");
}
