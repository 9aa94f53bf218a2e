// SPDX-License-Identifier: MIT
#pragma once

#include "tests/support/failing_program.hpp"

/// Starts, forks, and processes that wait for one another.
namespace weft::tests::for_failures {

inline std::string births(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, [&]() -> program {
    for (int i = 0; i != 4; ++i) co_await spawn(yields, std::ref(n), i);
    co_await proc::yield{};
    ++n;
  });
  return text(n);
}

inline std::string forks(chosen_backend chosen) {
  counter n = 0;
  auto const forking = [&n]() -> eff<void, spawning<proc>, proc> {
    co_await spawn(forkable, [&n]() -> eff<void, proc> {
      bool const first = co_await proc::fork{};
      co_await proc::yield{};
      n += first ? 1 : 10;
    });
    bool const first = co_await proc::fork{};
    bool const second = co_await proc::fork{};
    co_await proc::yield{};
    n += first + 2 * second;
  };
  fork_on(chosen, forking);
  return text(n);
}

inline step waits_at(std::reference_wrapper<gate> g, std::reference_wrapper<counter> n) {
  co_await syncing::wait{g};
  ++n.get();
}
inline std::string gates(chosen_backend chosen) {
  counter n = 0;
  gate g;  // children wait at it when the first process has failed
  run_on(chosen, virtual_time(), [&]() -> program {
    gate nobody;
    for (int i = 0; i != 3; ++i) co_await spawn(waits_at, std::ref(g), std::ref(n));
    instant const now = co_await timing::now{};
    auto const found = co_await syncing::wait_until(nobody, nobody.epoch(), now + 1h);
    if (!found) ++n;
    co_await syncing::wake{g, 1};
    co_await syncing::wake{g, 10};
  });
  return text(n);
}

inline step locks(std::reference_wrapper<mutex> m, std::reference_wrapper<counter> n) {
  auto const held = co_await m.get().lock();
  co_await proc::yield{};
  ++n.get();
}
inline step tries_to_lock(std::reference_wrapper<mutex> m, std::reference_wrapper<counter> n) {
  instant const now = co_await timing::now{};
  auto const held = co_await m.get().try_lock_until(now + 1h);
  if (held) ++n.get();
}
inline std::string mutexes(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, virtual_time(), [&]() -> task {
    mutex m;
    co_await with_scope([&](task_scope& s) -> task {
      for (int i = 0; i != 2; ++i) s.start(locks, std::ref(m), std::ref(n));
      s.start(tries_to_lock, std::ref(m), std::ref(n));
      co_return;
    });
  });
  return text(n);
}

inline step acquires(std::reference_wrapper<semaphore> s, std::reference_wrapper<counter> n) {
  co_await s.get().acquire();
  co_await proc::yield{};
  ++n.get();
  s.get().release();
}
inline std::string semaphores(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, virtual_time(), [&]() -> task {
    semaphore two(2);
    semaphore none(0);
    co_await with_scope([&](task_scope& s) -> task {
      for (int i = 0; i != 4; ++i) s.start(acquires, std::ref(two), std::ref(n));
      instant const now = co_await timing::now{};
      auto const found = co_await none.try_acquire_until(now + 1h);
      if (!found) ++n;
    });
  });
  return text(n);
}

inline std::string conditions(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, [&]() -> task {
    mutex m;
    condition changed;
    int value = 0;
    co_await with_scope([&](task_scope& s) -> task {
      for (int i = 0; i != 2; ++i)
        s.start([&]() -> task {
          auto held = co_await m.lock();
          co_await changed.wait(held, [&] { return value != 0; });
          ++n;
        });
      co_await proc::yield{};
      auto const held = co_await m.lock();
      value = 1;
      changed.notify_all();
    });
  });
  return text(n);
}

inline std::string barriers(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, [&]() -> task {
    barrier meet(3);
    co_await with_scope([&](task_scope& s) -> task {
      for (int i = 0; i != 3; ++i)
        s.start([&]() -> task {
          for (int round = 0; round != 2; ++round) co_await meet.arrive_and_wait();
          ++n;
        });
      co_return;
    });
  });
  return text(n);
}

inline std::string shared_values(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, [&]() -> task {
    shared<int> value(0);
    co_await with_scope([&](task_scope& s) -> task {
      s.start([&]() -> task { n += co_await value.wait_for([](int x) { return x == 3; }); });
      for (int i = 0; i != 3; ++i)
        s.start([&]() -> task { co_await value.update([](int& x) { ++x; }); });
      co_return;
    });
    n += co_await value.get();
  });
  return text(n);
}

inline step sleeps(std::reference_wrapper<counter> n, int ms) {
  co_await timing::sleep_for{std::chrono::milliseconds(ms)};
  ++n.get();
}
inline std::string sleepers(chosen_backend chosen) {
  counter n = 0;
  run_on(chosen, virtual_time(), [&]() -> program {
    for (int i = 0; i != 5; ++i) co_await spawn(sleeps, std::ref(n), 5 - i);
    co_await timing::sleep_for{1h};
    ++n;
  });
  return text(n);
}

}  // namespace weft::tests::for_failures
