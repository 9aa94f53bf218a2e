// SPDX-License-Identifier: MIT

// versions FILE: writes the trace of a run that keeps three versions of its queue, two of them after
// the first one.

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/trace/trace.hpp"
#include "weft/trace/trace_files.hpp"
#include "weft/trace/tracing.hpp"

using namespace weft;

namespace {

eff<void, proc> many() {
  for (int i = 0; i != 7; ++i) co_await proc::fork{};
}

void step(scheduler<tracing<>>& s, int n) {
  for (int i = 0; i != n; ++i) (void)s.step();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  weft::trace t;
  scheduler<tracing<>> s(schedule_options{.trace = &t});
  s.start({.trace = &t}, many);
  step(s, 60);
  auto const first = s.checkpoint();
  step(s, 3);
  auto const second = s.checkpoint();
  s.run(first);
  auto const third = s.checkpoint();
  write_trace(t, argv[1]);
}
