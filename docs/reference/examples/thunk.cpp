// SPDX-License-Identifier: MIT
// A thunk is a process that is ready, with its answer; an empty one says why.
#include <iostream>
#include <utility>
#include <vector>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

eff<void, proc> turns() {
  for (int i = 0; i != 2; ++i) co_await proc::yield{};
}

/// one_thread, which reports each process that it takes.
class reporting : public one_thread {
 public:
  class worker : public one_thread::worker {
   public:
    using one_thread::worker::worker;
    thunk take(instant until, quiescence_test quiescent) {
      thunk t = one_thread::worker::take(until, quiescent);
      if (process const* const p = t.get())
        std::cout << p->id().text() << (p->is_forkable() ? " may fork" : "") << ", answer "
                  << t.answer() << '\n';
      else
        std::cout << (t.why_empty() == thunk::reason::quiescent ? "quiescent\n" : "");
      return t;
    }
  };
};

char const* name_of(thunk::reason r) {
  switch (r) {
    case thunk::reason::quiescent:
      return "quiescent";
    case thunk::reason::deadline:
      return "deadline";
    case thunk::reason::stopped:
      return "stopped";
  }
  return "";
}

int main() {
  schedule<reporting>(turns);
  one_thread b;
  one_thread::worker w(b, 0);
  b.stop();
  thunk stopped = w.take(instant(), quiescence_test());
  std::cout << name_of(stopped.why_empty()) << (stopped.release() == nullptr) << '\n';
  one_thread::queue const none;
  std::cout << none.size() << '\n';
}
