// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Forks on several threads: each of the two processes may continue on another thread.

BACKENDS_TEST_CASE("a tree of forks has every leaf once, each with its own answers", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  for (int round = 0; round != rounds(20); ++round) {
    every_frame_dies const check;
    findings leaves;
    fork_on(chosen, [&leaves]() -> eff<void, proc> {
      std::string const name = "a name that is on the heap";
      int n = 0;
      for (int i = 0; i != 7; ++i) {
        bool const bit = co_await proc::fork{};
        n = 2 * n + bit;
        if (i % 2 == 0) co_await proc::yield{};
      }
      leaves.add(name.substr(0, 0) + std::to_string(n));
    });
    CHECK(leaves.all() == numbers(128));
  }
}

TEST_CASE("the two processes of a fork run at once, on two threads") {
  every_frame_dies const check;
  counter here = 0;
  findings threads;
  schedule<sharing>({.threads = 2}, [&]() -> eff<void, proc> {
    co_await proc::fork{};
    ++here;
    // Ordinary code: a process that waits here keeps its thread.
    until([&here] { return here == 2; });
    std::ostringstream text;
    text << std::this_thread::get_id();
    threads.add(text.str());
  });
  auto const all = threads.all();
  REQUIRE(all.size() == 2);
  CHECK(all[0] != all[1]);
}

BACKENDS_TEST_CASE("in a fork inside a handler inside each process has its own handler", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  for (int round = 0; round != rounds(20); ++round) {
    every_frame_dies const check;
    findings found;
    fork_on(chosen, [&found]() -> eff<void, proc> {
      auto const body = []() -> eff<int, state<int>, proc> {
        for (int i = 0; i != 5; ++i) {
          bool const bit = co_await proc::fork{};
          int const so_far = co_await state<int>::get{};
          co_await state<int>::put{2 * so_far + bit};
          co_await proc::yield{};
        }
        co_return co_await state<int>::get{};
      };
      int const n = co_await handle<state<int>>(state_of(0), body);
      found.add(std::to_string(n));
    });
    CHECK(found.all() == numbers(32));
  }
}

struct ask_text {
  struct get : op<std::string> {};
  using operations = op_list<get>;
};

BACKENDS_TEST_CASE("a process that is run again on another thread gets its old answers", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  struct dice {
    int n = 0;
    std::string on(ask_text::get) { return "answer number " + std::to_string(++n); }
  };
  findings found;
  fork_on(
      chosen,
      [&found]() -> eff<void, proc, ask_text> {
        std::string all;
        for (int i = 0; i != 6; ++i) {
          std::string const answer = co_await ask_text::get{};
          all += answer.back();
        }
        for (int i = 0; i != 4; ++i) {
          co_await proc::fork{};
          co_await proc::yield{};
        }
        found.add(all);
      },
      synchronized(dice()));
  CHECK(found.all() == std::vector<std::string>(16, "123456"));
}

eff<void, proc> yields(int n) {
  for (int i = 0; i != n; ++i) co_await proc::yield{};
}

BACKENDS_TEST_CASE("a tree of forks in which some processes fail ends, and everything is unwound",
                   "", on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  counter alive = 0;
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    counter failed = 0;
    auto const p = [&]() -> eff<void, proc> {
      lives const here(alive);
      int n = 0;
      for (int i = 0; i != 6; ++i) {
        bool const bit = co_await proc::fork{};
        n = 2 * n + bit;
      }
      co_await proc::yield{};
      if (n % 9 == 4) {
        ++failed;
        throw std::runtime_error("a leaf failed");
      }
      co_await yields(3);
    };
    std::size_t thrown = 0;
    try {
      fork_on(chosen, p);
    } catch (exceptions const& e) {
      thrown = e.all.size();
    } catch (std::runtime_error const& e) {
      thrown = std::string(e.what()) == "a leaf failed";
    }
    CHECK(thrown == static_cast<std::size_t>(failed.load()));
    CHECK(failed > 0);
    CHECK(alive == 0);
  }
}

BACKENDS_TEST_CASE("spawned processes that are forkable fork, beside others that cannot", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  findings found;
  run_on(chosen, [&found]() -> eff<void, spawning<proc>, proc> {
    for (int i = 0; i != 16; ++i) {
      co_await spawn(yields, i);
      co_await spawn(forkable, [&found, i]() -> eff<void, proc> {
        bool const first = co_await proc::fork{};
        bool const second = co_await proc::fork{};
        found.add(std::to_string(4 * i + 2 * first + second));
      });
    }
  });
  CHECK(found.all() == numbers(64));
}
