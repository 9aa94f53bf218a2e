// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Programs on several threads: each does what it does on one thread, in one of the possible
/// orders.

using children = spawning<proc>;
using program = eff<void, children, proc>;

eff<void, proc> yields(int n, std::reference_wrapper<counter> ended) {
  for (int i = 0; i != n; ++i) co_await proc::yield{};
  ++ended.get();
}

BACKENDS_TEST_CASE("every process that is spawned runs to its end, once", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  counter ended = 0;
  run_on(chosen, [&ended]() -> program {
    for (int i = 0; i != 1000; ++i) co_await spawn(yields, i % 7, std::ref(ended));
    co_await yields(3, ended);
  });
  CHECK(ended == 1001);
}

BACKENDS_TEST_CASE("a hundred thousand processes are alive at once, and end", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  counter begun = 0;
  counter ended = 0;
  int const all = rounds(100'000);
  run_on(chosen, [&begun, &ended, all]() -> program {
    for (int i = 0; i != all; ++i)
      co_await spawn(
          [](counter& b, counter& e, int n) -> eff<void, proc> {
            ++b;
            while (b != n) co_await proc::yield{};
            ++e;
          },
          std::ref(begun), std::ref(ended), all);
  });
  CHECK(ended == all);
}

BACKENDS_TEST_CASE("a storm of processes that end at once or by exit comes to its end", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  counter ended = 0;
  counter alive = 0;
  run_on(chosen, [&ended, &alive]() -> program {
    for (int i = 0; i != rounds(50'000); ++i) {
      co_await spawn(
          [](counter& n, lives, bool exits) -> eff<void, proc> {
            ++n;
            if (exits) co_await proc::exit{};
          },
          std::ref(ended), lives(alive), i % 2 == 0);
      if (i % 64 == 0) co_await proc::yield{};
    }
  });
  CHECK(ended == rounds(50'000));
  CHECK(alive == 0);
}

// Every process may spawn, so the row names itself through a struct.
struct grows {
  static eff<void, proc> leaf(std::reference_wrapper<counter> n) {
    ++n.get();
    co_await proc::yield{};
  }
  static eff<void, spawning<proc>, proc> twig(std::reference_wrapper<counter> n) {
    ++n.get();
    for (int i = 0; i != 10; ++i) {
      co_await spawn(leaf, n);
      co_await proc::yield{};
    }
  }
  static eff<void, spawning<spawning<proc>, proc>, proc> branch(std::reference_wrapper<counter> n) {
    ++n.get();
    for (int i = 0; i != 10; ++i) co_await spawn(twig, n);
    co_await proc::yield{};
  }
};

BACKENDS_TEST_CASE("spawned processes spawn processes that spawn processes", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  counter n = 0;
  run_on(chosen, [&n]() -> eff<void, spawning<spawning<spawning<proc>, proc>, proc>, proc> {
    for (int i = 0; i != 10; ++i) co_await spawn(grows::branch, std::ref(n));
  });
  CHECK(n == 10 + 100 + 1000);
}

std::string sorted(std::string s) {
  std::ranges::sort(s);
  return s;
}

BACKENDS_TEST_CASE("a program prints the same lines on every backend, in some order", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  std::string text;
  run_on(
      chosen,
      []() -> eff<void, spawning<proc, console>, proc, console> {
        for (char const c : {'a', 'b', 'c', 'd'})
          co_await spawn(
              [](char letter) -> eff<void, proc, console> {
                for (int i = 0; i != 100; ++i) {
                  co_await console::print{std::string(1, letter)};
                  co_await proc::yield{};
                }
              },
              c);
      },
      synchronized(console_to_string(text)));
  CHECK(sorted(text) == std::string(100, 'a') + std::string(100, 'b') + std::string(100, 'c') +
                            std::string(100, 'd'));
}

/// Gives a different answer each time, and each answer once.
struct hands_out {
  static constexpr bool thread_safe = true;
  counter last = 0;
  int on(ask::get) { return ++last; }
};

BACKENDS_TEST_CASE("a handler that declares itself thread_safe answers each question once", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  hands_out outside;
  std::vector<std::vector<int>> got(8);
  run_on(
      chosen,
      [&got]() -> eff<void, spawning<proc, ask>, proc, ask> {
        for (auto& list : got)
          co_await spawn(
              [](std::vector<int>& to) -> eff<void, proc, ask> {
                for (int i = 0; i != 500; ++i) {
                  int const n = co_await ask::get{};
                  to.push_back(n);
                  co_await proc::yield{};
                }
              },
              std::ref(list));
      },
      outside);
  std::set<int> all;
  for (auto const& list : got) {
    CHECK(std::ranges::is_sorted(list));
    all.insert(list.begin(), list.end());
  }
  CHECK(all.size() == 8 * 500);
  CHECK(*all.rbegin() == 8 * 500);
}

BACKENDS_TEST_CASE("a process that yields until another sets a flag lets it run", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  std::atomic<bool> flag = false;
  bool was_set = false;
  run_on(chosen, [&]() -> program {
    co_await spawn(
        [](std::atomic<bool>& f) -> eff<void, proc> {
          for (int i = 0; i != 1000; ++i) co_await proc::yield{};
          f = true;
        },
        std::ref(flag));
    while (!flag) co_await proc::yield{};
    was_set = true;
  });
  CHECK(was_set);
}

TEST_CASE("two processes run at once on two threads: each waits, in ordinary code, for the other") {
  every_frame_dies const check;
  counter here = 0;
  auto const meets = [](counter& n) -> eff<void> {
    ++n;
    until([&n] { return n == 2; });
    co_return;
  };
  schedule<sharing>({.threads = 2, .forkable = false}, [&]() -> eff<void, spawning<>> {
    co_await spawn(meets, std::ref(here));
    co_await meets(here);
  });
  CHECK(here == 2);
}

TEST_CASE("a process that never lets go of its thread does not keep those behind it from running") {
  every_frame_dies const check;
  counter ended = 0;
  schedule<sharing>({.threads = 2, .forkable = false}, [&ended]() -> eff<void, spawning<>> {
    for (int i = 0; i != 100; ++i)
      co_await spawn(
          [](counter& n) -> eff<void> {
            ++n;
            co_return;
          },
          std::ref(ended));
    until([&ended] { return ended == 100; });
  });
  CHECK(ended == 100);
}

/// An address that differs for every thread that is alive.
void const* this_thread_is() {
  static thread_local char here = 0;
  return &here;
}

TEST_CASE(
    "after a yield a thread_local variable is that of the thread that the process continues on") {
  every_frame_dies const check;
  static thread_local int mine = 0;
  counter wrong = 0;
  std::atomic<bool> is_there = false;
  std::atomic<bool> is_held = false;
  std::atomic<bool> has_moved = false;
  // The first process holds one thread until `looks` is on the other, and `holds` has come there
  // too, and stays.  So `looks` continues on the first.
  auto const looks = [&]() -> eff<void, proc> {
    std::thread::id at = std::this_thread::get_id();
    void const* local = this_thread_is();
    int const* address = &mine;
    is_there = true;
    while (!has_moved) {
      co_await proc::yield{};
      std::thread::id const now = std::this_thread::get_id();
      bool const has_changed = now != at;
      if ((this_thread_is() != local) != has_changed || (&mine != address) != has_changed) ++wrong;
      if (has_changed) has_moved = true;
      at = now;
      local = this_thread_is();
      address = &mine;
    }
  };
  auto const holds = [&]() -> eff<void, proc> {
    is_held = true;
    until([&] { return has_moved.load(); });
    co_return;
  };
  schedule<sharing>({.threads = 2, .forkable = false}, [&]() -> program {
    co_await spawn(forkable, looks);
    until([&] { return is_there.load(); });
    co_await spawn(forkable, holds);
    until([&] { return is_held.load(); });
  });
  CHECK(has_moved);
  CHECK(wrong == 0);
}

TEST_CASE("a sharing backend has as many threads as the machine unless told otherwise, or more") {
  CHECK(sharing().threads() == std::max(1U, std::thread::hardware_concurrency()));
  CHECK(sharing({.threads = 0}).threads() == sharing().threads());
  CHECK(sharing({.threads = 3}).threads() == 3);
  every_frame_dies const check;
  for (unsigned const threads : {0U, 1U, 3U, 32U}) {
    counter ended = 0;
    schedule<sharing>({.threads = threads, .forkable = false}, [&ended]() -> program {
      for (int i = 0; i != 2000; ++i) co_await spawn(yields, 5, std::ref(ended));
    });
    CHECK(ended == 2000);
  }
  counter ended = 0;
  schedule<sharing>([&ended]() -> program { co_await yields(1, ended); });
  CHECK(ended == 1);
}
