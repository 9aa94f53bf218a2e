// SPDX-License-Identifier: MIT
// A value that processes share, change in one access, and wait for.
#include <functional>
#include <iostream>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

eff<void, syncing> works(shared<int>& ready) {
  co_await ready.update([](int& n) { ++n; });
}

eff<void, spawning<syncing>, syncing> program(shared<int>& ready) {
  co_await ready.set(1);
  for (int i = 0; i != 2; ++i) co_await spawn(works, std::ref(ready));
  int const before = co_await ready.get();
  int const after = co_await ready.wait_for([](int n) { return n == 3; });
  std::cout << before << ", then " << after << '\n';
}

int main() {
  shared<int> ready(0);
  schedule([&ready] { return program(ready); });
}
