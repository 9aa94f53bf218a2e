// SPDX-License-Identifier: MIT
// A gate, of which locks are made: a lock of one's own, with reports to the explorer.
#include <chrono>
#include <functional>
#include <iostream>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;
using namespace std::chrono_literals;

struct latch {
  bool open = false;
  gate at;
};

eff<void, syncing> waits(latch& l) {
  process_id const me = co_await syncing::own{&l, false};  // reads what processes share
  co_await l.at.wait_while([&l] { return !l.open; });
  std::cout << me.text() << " goes on\n";
}
eff<void, spawning<syncing>, syncing, timing> program(latch& l) {
  for (int i = 0; i != 3; ++i) co_await spawn(waits, std::ref(l));
  instant const now = co_await timing::now{};
  bool const woken = co_await syncing::wait_until{l.at, l.at.epoch(), now + 1s};
  std::cout << l.at.waiting() << " wait, woken: " << woken << '\n';
  co_await syncing::touch{&l, true};
  l.open = true;
  co_await syncing::wake{l.at};  // one of them
  l.at.release();                // another one; also in a destructor
  l.at.release_all();
}

int main() {
  latch l;
  schedule({.virtual_time = true}, [&l] { return program(l); });
}
