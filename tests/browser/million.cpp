// SPDX-License-Identifier: MIT

// million FILE: writes the trace of a run with more than a million events.

#include <cstddef>
#include <cstdlib>
#include <iostream>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/trace/trace.hpp"
#include "weft/trace/trace_files.hpp"
#include "weft/trace/tracing.hpp"

using namespace weft;

namespace {

eff<void, proc> yields() {
  for (int i = 0; i != 1'000; ++i) co_await proc::yield{};
}
eff<void, spawning<proc>> program() {
  for (int i = 0; i != 200; ++i) co_await spawn(yields);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  weft::trace t({.max_events = std::size_t{1} << 21});
  schedule<tracing<>>({.forkable = false, .trace = &t}, program);
  write_trace(t, argv[1]);
  std::size_t const n = t.events().size();
  std::cout << n << " events\n";
  return n > 1'000'000 && t.dropped() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
