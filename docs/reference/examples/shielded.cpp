// SPDX-License-Identifier: MIT
// Work that must not be left half done, although its scope is cancelled.
#include <iostream>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/tasks/scope.hpp>
#include <weft/sched/tasks/shielded.hpp>
using namespace weft;

eff<void, yielding> saves(bool& is_saved) {
  co_await shielded([&is_saved]() -> eff<void, yielding> {
    co_await yielding::yield{};  // the scope is cancelled meanwhile
    is_saved = true;
  });
  co_await yielding::yield{};  // finds `cancelled` here
  std::cout << "not reached\n";
}

eff<void, tasking<yielding>, yielding> program() {
  bool is_saved = false;
  co_await with_scope([&](auto& s) -> eff<void, tasking<yielding>, yielding> {
    s.start(saves, std::ref(is_saved));
    co_await yielding::yield{};
    s.cancel();
  });
  std::cout << "saved: " << is_saved << '\n';
}

int main() { schedule(program); }
