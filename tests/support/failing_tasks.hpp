// SPDX-License-Identifier: MIT
#pragma once

#include "tests/support/failing_program.hpp"

/// Tasks and scopes.
namespace weft::tests::for_failures {

inline giving<int> twice_of(int n) {
  co_await proc::yield{};
  co_return 2 * n;
}
inline eff<int, tasking<>> same(int n) { co_return n; }

inline std::string tasks(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, [&]() -> task {
    auto const [a, b, c] = co_await when_all(twice_of(1), same(2), twice_of(3));
    std::array both{same(4), same(5)};
    auto const nine = co_await when_all(std::move(both));
    n += a + b + c + nine[0] + nine[1];
    auto const some = co_await when_all(std::views::iota(0, 5) | std::views::transform(twice_of));
    n += std::accumulate(some.begin(), some.end(), 0);
  });
  return text(n);
}

inline std::string loops(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, [&]() -> eff<void, tasking<>> {
    std::vector<int> v(40, 1);
    co_await parallel_for(v, [](int& x) { ++x; });
    n += co_await parallel_reduce(v, 0, std::plus());
  });
  return text(n);
}

inline eff<int, timing> late(int n, std::chrono::hours after) {
  co_await timing::sleep_for{after};
  co_return n;
}
inline std::string first_of_several(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, virtual_time(), [&]() -> task {
    auto const first = co_await when_any(late(1, 1h), late(2, 2h));
    n += std::get<0>(first);
    auto const [which, value] =
        co_await when_any(std::views::iota(0, 3) | std::views::transform([](int i) {
                            return late(10 * i, std::chrono::hours(3 - i));
                          }));
    n += static_cast<int>(which) + value;
  });
  return text(n);
}

inline std::string scopes(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, [&]() -> task {
    task_handle<int> one;
    task_handle<int> many;
    co_await with_scope([&](task_scope& s) -> task {
      s.start([&] { ++n; });
      s.start(yields, std::ref(n), 2);
      s.start(one, twice_of, 5);
      for (int i = 0; i != 3; ++i) s.start(many, twice_of, i);
      co_await with_scope([&](task_scope& inner) -> task {
        inner.start(yields, std::ref(n), 1);
        s.start(yields, std::ref(n), 1);
        co_return;
      });
      n += co_await one;
    });
    for (int const x : co_await many.all()) n += x;
    task_handle<int> free = co_await start_task(twice_of, 50);
    n += co_await free;
  });
  return text(n);
}

inline std::string scopes_that_fail(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, [&]() -> task {
    try {
      co_await with_scope([&](task_scope& s) -> task {
        s.start([]() -> task {
          co_await proc::yield{};
          throw std::runtime_error("failed");
        });
        s.start([]() -> task {
          gate g;
          co_await syncing::wait{g};
        });
        gate g;
        co_await syncing::wait{g};
      });
    } catch (std::runtime_error const&) {
      ++n;
    }
  });
  return text(n);
}

inline task waits_for_ever() {
  gate g;
  co_await syncing::wait{g};
}
inline std::string scopes_with_timeout(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, virtual_time(), [&]() -> task {
    for (int i = 0; i != 2; ++i) try {
        co_await with_scope({.timeout = 1ms}, [&](task_scope& s) -> task {
          s.start(waits_for_ever);
          s.start(waits_for_ever);
          if (i == 0) co_await waits_for_ever();
        });
      } catch (cancelled const&) {
        ++n;
      }
    n += co_await with_scope({.timeout = 1h}, [&](task_scope& s) -> giving<int> {
      s.start(yields, std::ref(n), 2);
      co_return 10;
    });
  });
  return text(n);
}

inline std::string scopes_with_stop_token(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, [&]() -> task {
    std::stop_source by_task, by_thread, by_nobody;
    try {
      co_await with_scope(by_task.get_token(), [&](task_scope& s) -> task {
        s.start(waits_for_ever);
        s.start([&] { by_task.request_stop(); });
        co_await waits_for_ever();
      });
    } catch (cancelled const&) {
      ++n;
    }
    try {
      thread_of const other([&] { by_thread.request_stop(); });
      co_await with_scope(by_thread.get_token(), [&](task_scope& s) -> task {
        s.start(waits_for_ever);
        co_await waits_for_ever();
      });
    } catch (cancelled const&) {
      ++n;
    }
    n += co_await with_scope(by_nobody.get_token(), [&](task_scope& s) -> giving<int> {
      s.start(yields, std::ref(n), 2);
      co_return 10;
    });
  });
  return text(n);
}

inline std::string scopes_that_are_cancelled(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, virtual_time(), [&]() -> task {
    semaphore none(0);
    mutex m;
    auto const held = co_await m.lock();
    auto [in, to] = co_await open<int>();
    completer<int> never_comes;
    auto comes = never_comes.get_completion();
    auto const counts = [&n](auto what) -> task {
      try {
        (void)co_await what();
      } catch (cancelled const&) {
        ++n;
        throw;
      }
    };
    co_await with_scope([&](task_scope& s) -> task {
      s.start([&]() -> task { co_await counts([&] { return none.acquire(); }); });
      s.start([&]() -> task { co_await counts([&] { return m.lock(); }); });
      s.start([&]() -> task { co_await counts([&] { return in.receive(); }); });
      s.start([&]() -> task { co_await counts([&] { return comes.wait(); }); });
      s.start([&]() -> task { co_await counts([] { return timing::sleep_for{1h}; }); });
      for (int i = 0; i != 3; ++i) co_await proc::yield{};
      co_await timing::sleep_for{1ms};
      s.cancel();
    });
    (void)to;
  });
  return text(n);
}

inline std::string shields(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, [&]() -> task {
    co_await with_scope([&](task_scope& s) -> task {
      s.start([&]() -> task {
        co_await shielded([&]() -> task {
          for (int i = 0; i != 3; ++i) co_await proc::yield{};
          ++n;
        });
      });
      co_await proc::yield{};
      co_await proc::yield{};
    });
  });
  return text(n);
}

// ---- a resumption that is dropped across a scope

struct asking_outside {
  struct ask : op<int> {};
  using operations = op_list<ask>;
};
inline std::string dropped_across_a_scope(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, [&]() -> task {
    auto const drops = [](asking_outside::ask, resumption<int, int> k) -> eff<int, proc> {
      {
        auto const dropped = std::move(k);
      }
      co_await proc::yield{};
      co_return 5;
    };
    using inside = eff<int, asking_outside, tasks_of_all, all>;
    n += co_await handle<asking_outside>(clauses{drops}, [&]() -> inside {
      co_return co_await with_scope([&](task_scope& s) -> inside {
        s.start(waits_for_ever);
        s.start([]() -> task { co_await shielded([]() -> task { co_await proc::yield{}; }); });
        co_await proc::yield{};
        co_return co_await asking_outside::ask{};
      });
    });
  });
  return text(n);
}

}  // namespace weft::tests::for_failures
