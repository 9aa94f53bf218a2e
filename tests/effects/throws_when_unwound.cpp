// SPDX-License-Identifier: MIT

/// A destructor that throws while its process is dropped ends the program by std::terminate, like
/// one that throws while an exception unwinds a stack.

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

struct angry {
  ~angry() noexcept(false) { throw 1; }
};

weft::eff<void, weft::proc> leaves() {
  angry const a;
  co_await weft::proc::exit{};
}

int main() {
  std::set_terminate([] {
    std::puts("terminated");
    std::fflush(stdout);
    std::_Exit(0);
  });
  weft::schedule(leaves);
  std::puts("went on");
}
