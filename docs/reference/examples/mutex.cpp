// SPDX-License-Identifier: MIT
// A lock for processes: held across a wait, tried, and waited for until a deadline.
#include <chrono>
#include <functional>
#include <iostream>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;
using namespace std::chrono_literals;

eff<void, syncing, timing> holds(mutex& m) {
  mutex::guard held = co_await m.lock();
  co_await timing::sleep_for{10s};
  held.unlock();  // or let the guard go
  std::cout << "unlocked, owns: " << held.owns() << '\n';
}

eff<void, spawning<syncing, timing>, syncing, timing> program(mutex& m, int& count) {
  co_await spawn(holds, std::ref(m));
  co_await timing::sleep_for{1s};
  auto const now = co_await timing::now{};
  auto const tried = co_await m.try_lock();
  auto const waited = co_await m.try_lock_until(now + 2s);
  std::cout << tried.has_value() << waited.has_value() << '\n';
  int const n = co_await with_lock(m, [&count] { return ++count; });
  std::cout << "counted " << n << '\n';
}

int main() {
  mutex m;
  int count = 0;
  schedule({.virtual_time = true}, [&] { return program(m, count); });
}
