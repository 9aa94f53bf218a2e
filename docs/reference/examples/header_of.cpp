// SPDX-License-Identifier: MIT
// What a backend keeps with each process: a header, found from the process, and the process from it.
#include <iostream>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/sharing.hpp>
using namespace weft;

eff<void, proc> turns() { co_await proc::yield{}; }

/// sharing, which looks at the header of each process that a worker takes.
class looking : public sharing {
 public:
  using sharing::sharing;
  class worker : public sharing::worker {
   public:
    using sharing::worker::worker;
    thunk take(instant until, quiescence_test quiescent) {
      thunk t = sharing::worker::take(until, quiescent);
      if (process* const p = t.get()) {
        auto& h = header_of<sharing::header>(*p);
        std::cout << (&process_behind(h) == p) << '\n';
      }
      return t;
    }
  };
};

int main() { schedule<looking>({.threads = 1}, turns); }
