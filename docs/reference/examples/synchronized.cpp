// SPDX-License-Identifier: MIT
// A handler that several threads use at once: each operation takes a lock.
#include <iostream>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/sharing.hpp>
using namespace weft;

struct counting {
  struct [[nodiscard]] add : op<void> {};
  using operations = op_list<add>;
};
struct counter {
  int n = 0;
  void on(counting::add) { ++n; }
};

eff<void, counting, proc> adds() {
  for (int i = 0; i != 100; ++i) {
    co_await counting::add{};
    co_await proc::yield{};
  }
}
eff<void, spawning<counting, proc>> program() {
  for (int i = 0; i != 4; ++i) co_await spawn(adds);
}

int main() {
  counter shared_by_all;
  synchronized_handler<counter&> guarded = synchronized(shared_by_all);
  schedule<sharing>({.threads = 2}, program, guarded);
  std::cout << shared_by_all.n << '\n';
}
