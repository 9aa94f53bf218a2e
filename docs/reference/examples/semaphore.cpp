// SPDX-License-Identifier: MIT
// A semaphore with a number of permits, and a barrier at which processes meet.
#include <chrono>
#include <functional>
#include <iostream>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;
using namespace std::chrono_literals;

struct hall {
  semaphore seats{2};
  barrier end{3};
  int seated = 0, most = 0;
};

eff<void, syncing, timing> guest(hall& h) {
  co_await h.seats.acquire();
  h.most = std::max(h.most, ++h.seated);
  co_await timing::sleep_for{1h};
  --h.seated;
  h.seats.release();
  co_await h.end.arrive_and_wait();  // until all three have come
  std::cout << "leaves\n";
}
eff<void, spawning<syncing, timing>, syncing, timing> program(hall& h) {
  for (int i = 0; i != 3; ++i) co_await spawn(guest, std::ref(h));
  co_await timing::sleep_for{1min};
  instant const now = co_await timing::now{};
  bool const at_once = co_await h.seats.try_acquire();
  bool const soon = co_await h.seats.try_acquire_until(now + 1min);
  std::cout << at_once << soon << ", at most " << h.most << '\n';
}

int main() {
  hall h;
  schedule({.virtual_time = true}, [&h] { return program(h); });
}
