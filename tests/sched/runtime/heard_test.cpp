// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// A process that performs only operations which need not wait lets the others go first now and
/// then, and so hears of a stop.

using in_loops =
    row<syncing, completions, timing, proc, tasking<syncing, completions, timing, proc>>;
using loops = eff<void, in_loops>;

struct never_waits {
  char const* name;
  loops (*once)();
};
never_waits const ways[] = {
    {"a mutex that is locked",
     []() -> loops {
       static mutex m;
       auto const held = co_await m.lock();
     }},
    {"a mutex that is tried",
     []() -> loops {
       static mutex m;
       auto const held = co_await m.try_lock();
     }},
    {"a semaphore",
     []() -> loops {
       static semaphore s(1);
       co_await s.acquire();
       s.release();
     }},
    {"a shared value that is read",
     []() -> loops {
       static shared<int> v;
       (void)co_await v.get();
     }},
    {"a shared value that is written",
     []() -> loops {
       static shared<int> v;
       co_await v.update([](int& n) { n ^= 1; });
     }},
    {"a shared value that is right",
     []() -> loops {
       static shared<int> v;
       (void)co_await v.wait_for([](int n) { return n == 0; });
     }},
    {"a barrier of one",
     []() -> loops {
       static barrier b(1);
       co_await b.arrive_and_wait();
     }},
    {"completions that are ready",
     []() -> loops {
       completer<int> source;
       auto result = source.get_completion();
       source.complete(1);
       (void)co_await result.wait();
     }},
    {"completions that are ready in time",
     []() -> loops {
       completer<void> source;
       auto result = source.get_completion();
       source.complete();
       (void)co_await result.wait_until(instant::max());
     }},
    {"scopes of nothing", []() -> loops { co_await with_scope([](auto&) {}); }},
    {"the time", []() -> loops { (void)co_await timing::now{}; }},
    {"a gate at which nobody waits",
     []() -> loops {
       static gate g;
       co_await syncing::wake{g};
     }},
};

BACKENDS_TEST_CASE("a process that never waits hears of a stop", "", on_one_thread, in_random_order,
                   on_locked_queue, on_sharing<1>, on_sharing<2>, on_stealing<1>, on_stealing<2>) {
  for (auto const& way : ways) {
    CAPTURE(way.name);
    std::stop_source stop;
    auto const asks = [&stop]() -> loops {
      stop.request_stop();
      co_return;
    };
    auto const p = [&]() -> loops {
      co_await with_scope([&](auto& s) -> loops {
        s.start(asks);
        for (;;) co_await way.once();
      });
    };
    CHECK_THROWS_AS(run_on(chosen, options(false, stop.get_token()), p), cancelled);
  }
}
BACKENDS_TEST_CASE("a process that never waits hears of its deadline", "", on_one_thread,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  for (auto const& way : ways) {
    CAPTURE(way.name);
    bool has_passed = false;
    run_on(chosen, [&]() -> loops {
      try {
        co_await with_scope({.timeout = 1ms}, [&](auto&) -> loops {
          for (;;) co_await way.once();
        });
      } catch (timed_out const&) {
        has_passed = true;
      }
    });
    CHECK(has_passed);
  }
}
BACKENDS_TEST_CASE("a mutex is not taken twice from a process that waits for it", "", on_one_thread,
                   in_random_order, on_sharing<1>) {
  int rounds_of_first = 0;
  bool has_had_it = false;
  run_on(chosen, [&]() -> loops {
    mutex m;
    co_await with_scope([&](auto& s) -> loops {
      s.start([&]() -> loops {
        auto const held = co_await m.lock();
        has_had_it = true;
      });
      while (!has_had_it && rounds_of_first != 1000) {
        auto const held = co_await m.lock();
        ++rounds_of_first;
        co_await proc::yield{};
      }
    });
  });
  CHECK(has_had_it);
  CHECK(rounds_of_first <= 3);
}
