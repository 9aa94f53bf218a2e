// SPDX-License-Identifier: MIT
// One process becomes two: by the operation, and by a function for each of the two.
#include <iostream>
#include <string>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

eff<void, console> left() { co_await console::print_line{"left"}; }
eff<void, console> right() { co_await console::print_line{"right"}; }

eff<void, proc, console> forks() {
  bool const first = co_await proc::fork{};
  std::string const name = first ? "first" : "second";
  co_await console::print_line{name};
}
eff<void, proc, console> forks_twice() {
  co_await fork(left, right);
  co_await console::print_line{"after"};  // both come here
  co_await proc::exit{};                  // and each ends for itself
}
eff<void, spawning<proc, console>> program() {
  co_await spawn(forkable, forks);  // a process that may fork keeps a log
  forkable_t const may_fork{};
  co_await spawn(may_fork, forks_twice);
}

int main() { schedule(program, console_to_stream(std::cout)); }
