// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Handlers inside processes whose bodies are suspended on one thread and continue on another.

/// Sums up step by step, in the state of a handler inside the process.
eff<int, state<int>, proc> sums(int n) {
  for (int i = 1; i <= n; ++i) {
    int const so_far = co_await state<int>::get{};
    co_await proc::yield{};
    co_await state<int>::put{so_far + i};
  }
  co_return co_await state<int>::get{};
}

BACKENDS_TEST_CASE("the state of a handler inside a process moves with it from thread to thread",
                   "", on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  counter right = 0;
  run_on(chosen, [&right]() -> eff<void, spawning<proc>, proc> {
    for (int i = 0; i != 50; ++i)
      co_await spawn(
          [](counter& ok, int n) -> eff<void, proc> {
            int const sum = co_await handle<state<int>>(state_of(0), sums(n));
            ok += sum == n * (n + 1) / 2;
          },
          std::ref(right), 10 * i);
  });
  CHECK(right == 50);
}

BACKENDS_TEST_CASE(
    "a search by replay inside a process, which yields on the way, finds all results", "",
    on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  findings found;
  run_on(chosen, [&found]() -> eff<void, spawning<proc>, proc> {
    for (int i = 0; i != 8; ++i)
      co_await spawn(
          [](findings& to, int k) -> eff<void, proc> {
            auto const body = []() -> eff<int, pick, proc> {
              int const a = co_await pick::one{};
              co_await proc::yield{};
              int const b = co_await pick::one{};
              co_await proc::yield{};
              int const c = co_await pick::one{};
              co_return 9 * a + 3 * b + c;
            };
            auto const all = co_await handle<pick>(tries_picks<>{3}, body);
            bool right = all.size() == 27;
            for (std::size_t n = 0; right && n != all.size(); ++n)
              right = all[n] == static_cast<int>(n);
            to.add(right ? std::to_string(k) : "wrong");
          },
          std::ref(found), i);
  });
  CHECK(found.all() == numbers(8));
}

eff<void, proc> yields(int n) {
  for (int i = 0; i != n; ++i) co_await proc::yield{};
}

BACKENDS_TEST_CASE("a resumption that a region inside a process keeps is resumed on any thread", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  counter right = 0;
  run_on(chosen, [&right]() -> eff<void, spawning<proc>, proc> {
    for (int i = 0; i != 50; ++i)
      co_await spawn(
          [](counter& ok, int n) -> eff<void, proc> {
            keeps kept;
            auto const body = [](int k) -> eff<int, ask, proc> {
              co_await proc::yield{};
              int const first = co_await ask::get{};
              co_await yields(k % 5);
              int const second = co_await ask::get{};
              co_return 10 * first + second;
            };
            int const waits = co_await handle<ask>(kept, body(n));
            co_await yields(3);
            int const waits_again = co_await std::move(kept.k)(4);
            co_await yields(2);
            int const result = co_await std::move(kept.k)(2);
            ok += waits == -1 && waits_again == -1 && result == 42;
          },
          std::ref(right), i);
  });
  CHECK(right == 50);
}

BACKENDS_TEST_CASE("the suspended frames that a region keeps are unwound at the end of its process",
                   "", on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  counter alive = 0;
  counter unwound = 0;
  run_on(chosen, [&]() -> eff<void, spawning<proc>, proc> {
    for (int i = 0; i != 50; ++i)
      co_await spawn(
          [](counter& n, counter& gone) -> eff<void, proc> {
            {
              parks kept;
              auto const body = [](lives) -> eff<void, tick, proc> {
                co_await proc::yield{};
                co_await tick::now{};
              };
              co_await handle<tick>(kept, body(lives(n)));
              co_await yields(3);
            }
            ++gone;
          },
          std::ref(alive), std::ref(unwound));
  });
  CHECK(unwound == 50);
  CHECK(alive == 0);
}

BACKENDS_TEST_CASE("a process is cancelled inside its handlers, which end with it", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  for (int round = 0; round != rounds(50); ++round) {
    every_frame_dies const check;
    counter begun = 0;
    counter found = 0;
    auto const p = [&]() -> eff<void, spawning<proc>, proc> {
      for (int i = 0; i != 8; ++i)
        co_await spawn(
            [](counter& b, counter& f) -> eff<void, proc> {
              auto const body = [&b]() -> eff<int, state<int>, proc> {
                ++b;
                for (;;) {
                  int const n = co_await state<int>::get{};
                  co_await state<int>::put{n + 1};
                  co_await proc::yield{};
                }
              };
              try {
                co_await handle<state<int>>(state_of(0), body);
              } catch (cancelled const&) {
                ++f;
                throw;
              }
            },
            std::ref(begun), std::ref(found));
      while (begun != 8) co_await proc::yield{};
      throw std::runtime_error("as asked");
    };
    CHECK_THROWS_WITH(run_on(chosen, p), "as asked");
    CHECK(found == 8);
  }
}

BACKENDS_TEST_CASE("an exception of a clause inside passes through its own process only", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  struct refuses {
    int on(ask::get) const { throw std::runtime_error("no"); }
  };
  counter caught = 0;
  run_on(chosen, [&caught]() -> eff<void, spawning<proc>, proc> {
    for (int i = 0; i != 100; ++i)
      co_await spawn(
          [](counter& n) -> eff<void, proc> {
            auto const body = []() -> eff<int, ask, proc> {
              co_await proc::yield{};
              co_return co_await ask::get{};
            };
            try {
              co_await handle<ask>(refuses(), body);
            } catch (std::runtime_error const&) {
              ++n;
            }
            co_await proc::yield{};
          },
          std::ref(caught));
  });
  CHECK(caught == 100);
}

// ---- handlers outside, shared by all processes

BACKENDS_TEST_CASE("a named handler that is synchronized is borrowed, and has the last value", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  struct sums_up : handler<state<int>> {
    int on(state<int>::get) const { return sum; }
    void on(state<int>::put p) { sum += p.value; }
    int sum = 0;
  };
  sums_up sum;
  run_on(
      chosen, options(),
      []() -> eff<void, spawning<proc, state<int>>> {
        for (int i = 1; i <= 100; ++i)
          co_await spawn(
              [](int n) -> eff<void, proc, state<int>> {
                co_await state<int>::put{n};
                co_await proc::yield{};
                co_await state<int>::put{n};
              },
              i);
      },
      synchronized(sum));
  CHECK(sum.sum == 10'100);
}

TEST_CASE("a named handler that is synchronized may be const, and may be given to handle") {
  reader_of<int> const seven(7);
  auto const asks = []() -> eff<int, reader<int>> { co_return co_await reader<int>::ask{}; };
  CHECK(run(handle<reader<int>>(synchronized(seven), asks)) == 7);
  state_of<int> n(1);
  run(handle<state<int>>(synchronized(n), modify<int>([](int k) { return k + 1; })));
  CHECK(n.value() == 2);
}

TEST_CASE("a synchronized handler handles what its handler names, alone and composed") {
  state_of<int> n(1);
  std::string text;
  console_to_string out(text);
  auto const counts = []() -> eff<void, state<int>, console> {
    co_await modify<int>([](int k) { return k + 1; });
    co_await console::print("counted");
  };
  run(handle(synchronized(n), handle(synchronized(out), counts)));
  run(handle(synchronized(n) | synchronized(out), counts));
  CHECK(n.value() == 3);
  CHECK(text == "countedcounted");
}

TEST_CASE("a synchronized handler has the return clause of its handler") {
  auto const sets = []() -> eff<int, state<int>> {
    co_await state<int>::put{7};
    co_return 1;
  };
  CHECK(run(handle(synchronized(state_returned(0)), sets)) == std::pair(1, 7));
}

// ---- copied frames stay where they are

TEST_CASE("a process that yields inside a body that is resumed bitwise is refused") {
  every_frame_dies const check;
  counter refused = 0;
  std::string what;
  auto const p = [&]() -> eff<void, proc> {
    auto const body = []() -> eff<int, pick, proc> {
      int const first = co_await pick::one{};
      co_await proc::yield{};
      co_return first;
    };
    try {
      co_await handle<pick>(tries_picks<>{2}, body, bitwise());
    } catch (frames_in_use const& e) {
      ++refused;
      what = e.what();
    }
    co_await proc::yield{};
  };
  for (unsigned const threads : {1U, 2U, 8U})
    schedule<sharing>({.threads = threads, .forkable = false}, p);
  CHECK(refused == 3);
  CHECK_THAT(what,
             Catch::Matchers::Contains(
                 "weft::proc::yield at tests/sched/backends/sharing_handlers_test") &&
                 Catch::Matchers::Contains("its frames are copied, and must stay where they are"));
  // Without the yield each process runs where it is.
  findings found;
  schedule<sharing>(
      {.threads = 8, .forkable = false}, [&found]() -> eff<void, spawning<proc>, proc> {
        for (int i = 0; i != 16; ++i)
          co_await spawn(
              [](findings& to) -> eff<void, proc> {
                co_await proc::yield{};
                auto const body = []() -> eff<int, pick> {
                  int const a = co_await pick::one{};
                  int const b = co_await pick::one{};
                  co_return 2 * a + b;
                };
                auto const all = co_await handle<pick>(tries_picks<>{2}, body, bitwise());
                co_await proc::yield{};
                to.add(all == std::vector{0, 1, 2, 3} ? "right" : "wrong");
              },
              std::ref(found));
      });
  CHECK(found.all() == std::vector<std::string>(16, "right"));
}
