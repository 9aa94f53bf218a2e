// SPDX-License-Identifier: MIT
// Work that must not be left half done, although its scope is cancelled.
#include <iostream>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/tasks/scope.hpp>
#include <weft/sched/tasks/shielded.hpp>
using namespace weft;

eff<void, proc> saves(bool& is_saved) {
  co_await shielded([&is_saved]() -> eff<void, proc> {
    co_await proc::yield{};  // the scope is cancelled meanwhile
    is_saved = true;
  });
  co_await proc::yield{};  // finds `cancelled` here
  std::cout << "not reached\n";
}

eff<void, tasking<proc>, proc> program() {
  bool is_saved = false;
  co_await with_scope([&](auto& s) -> eff<void, tasking<proc>, proc> {
    s.start(saves, std::ref(is_saved));
    co_await proc::yield{};
    s.cancel();
  });
  std::cout << "saved: " << is_saved << '\n';
}

int main() { schedule({.forkable = false}, program); }
