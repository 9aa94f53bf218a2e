// SPDX-License-Identifier: MIT
// Processes that wait for a change of what a mutex guards.
#include <chrono>
#include <deque>
#include <functional>
#include <iostream>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;
using namespace std::chrono_literals;

struct queue {
  mutex m;
  condition changed;
  std::deque<int> items;
};

eff<void, syncing> consumes(queue& q) {
  auto held = co_await q.m.lock();
  co_await q.changed.wait(held, [&q] { return !q.items.empty(); });
  std::cout << "took " << q.items.front() << '\n';
  q.items.pop_front();
}
eff<void, spawning<syncing>, syncing, timing> program(queue& q) {
  for (int i = 0; i != 3; ++i) co_await spawn(consumes, std::ref(q));
  co_await timing::sleep_for{1s};  // all three wait
  {
    auto const held = co_await q.m.lock();
    q.items = {1, 2, 3};
  }
  q.changed.notify_one();
  q.changed.notify_all();
  auto held = co_await q.m.lock();
  instant const now = co_await timing::now{};
  bool const notified = co_await q.changed.wait_until(held, now + 1s);
  bool const full =
      co_await q.changed.wait_until(held, now + 2s, [&q] { return !q.items.empty(); });
  std::cout << notified << full << '\n';
}

int main() {
  queue q;
  schedule({.virtual_time = true}, [&q] { return program(q); });
}
