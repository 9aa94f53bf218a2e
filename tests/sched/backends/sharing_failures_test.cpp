// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Processes and handlers that throw, on several threads.

using program = eff<void, spawning<proc>, proc>;

eff<void, proc> fails_after(int n, std::string what, lives) {
  for (int i = 0; i != n; ++i) co_await proc::yield{};
  throw std::runtime_error(what);
}
eff<void, proc> yields_until_cancelled(std::reference_wrapper<counter> found, lives) {
  try {
    for (;;) co_await proc::yield{};
  } catch (cancelled const&) {
    ++found.get();
    throw;
  }
}

BACKENDS_TEST_CASE("an exception of a process is thrown, and the other processes are cancelled", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>,
                   on_stealing<3>) {
  every_frame_dies const check;
  counter alive = 0;
  counter found = 0;
  counter begun = 0;
  auto const p = [&]() -> program {
    for (int i = 0; i != 20; ++i)
      co_await spawn(
          [](counter& b, counter& f, lives l) -> eff<void, proc> {
            ++b;
            co_await yields_until_cancelled(f, l);
          },
          std::ref(begun), std::ref(found), lives(alive));
    while (begun != 20) co_await proc::yield{};
    co_await fails_after(10, "the process failed", lives(alive));
  };
  CHECK_THROWS_WITH(run_on(chosen, p), "the process failed");
  CHECK(found == 20);
  CHECK(alive == 0);
}

BACKENDS_TEST_CASE("of several processes that fail each is named, once", "", on_one_thread,
                   in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  for (int round = 0; round != rounds(100); ++round) {
    counter begun = 0;
    std::set<std::string> who;
    std::set<std::string> what;
    // All processes find `cancelled`, or the flag, and throw another exception in its place.
    auto const p = [&begun]() -> program {
      for (int i = 0; i != 5; ++i)
        co_await spawn(
            [](counter& b, int n) -> eff<void, proc> {
              ++b;
              try {
                while (b != 5) co_await proc::yield{};
              } catch (cancelled const&) {
              }
              throw std::runtime_error("failure " + std::to_string(n));
            },
            std::ref(begun), i);
    };
    try {
      run_on(chosen, p);
    } catch (exceptions const& e) {
      for (auto const& f : e.all) {
        who.insert(f.process.text());
        try {
          std::rethrow_exception(f.error);
        } catch (std::runtime_error const& inner) {
          what.insert(inner.what());
        }
      }
    }
    CHECK(who == std::set<std::string>{"1.1", "1.2", "1.3", "1.4", "1.5"});
    CHECK(what.size() == 5);
  }
}

BACKENDS_TEST_CASE(
    "an exception of a handler outside arises in the process that performed, and in no other", "",
    on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_sharing<8>, on_stealing<3>) {
  every_frame_dies const check;
  struct moody {
    int n = 0;
    int on(ask::get) {
      if (++n % 3 == 0) throw std::runtime_error("no");
      return n;
    }
  };
  counter refused = 0;
  counter answered = 0;
  run_on(
      chosen,
      [&]() -> eff<void, spawning<proc, ask>, proc, ask> {
        for (int i = 0; i != 300; ++i)
          co_await spawn(
              [](counter& r, counter& a) -> eff<void, proc, ask> {
                co_await proc::yield{};
                try {
                  co_await ask::get{};
                  ++a;
                } catch (std::runtime_error const&) {
                  ++r;
                }
              },
              std::ref(refused), std::ref(answered));
      },
      synchronized(moody()));
  CHECK(refused == 100);
  CHECK(answered == 200);
}
