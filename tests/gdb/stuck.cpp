// SPDX-License-Identifier: MIT

// stuck [BACKEND]: processes that wait, are ready, and run; one of them ends the program by abort().

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/sched/backends/random_order.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/sharing.hpp>
#include <weft/sched/stealing.hpp>

using namespace weft;

eff<void, mail> reads(inbox<int>& in) {
  int volatile local = 42;
  (void)co_await in.receive();  // READS
  local = 43;
}
eff<void, mail> waits(inbox<int> in) {
  co_await reads(in);  // CALLS
}
eff<void, timing> sleeps() {
  co_await timing::sleep_for{std::chrono::hours(1)};  // SLEEPS
}
eff<int, state<int>, proc> counts() {
  for (;;) {
    int const n = co_await state<int>::get{};
    co_await proc::yield{};  // YIELDS
    co_await state<int>::put{n + 1};
  }
}
eff<void, proc> handles() {
  (void)co_await handle<state<int>>(state_of(7), counts());  // HANDLES
}
eff<void, proc> aborts() {
  for (int i = 0; i != 100; ++i) co_await proc::yield{};
  std::abort();
}
eff<void, spawning<mail, proc, timing>, mail, proc> program() {
  auto [in, to] = co_await open<int>();
  co_await spawn(waits, std::move(in));
  co_await spawn(sleeps);
  co_await spawn(handles);
  for (int i = 0; i != 20; ++i) co_await proc::yield{};
  co_await spawn(aborts);
  for (;;) co_await proc::yield{};
}

int main(int argc, char** argv) {
  std::string_view const backend = argc > 1 ? argv[1] : "";
  if (backend == "sharing")
    schedule<sharing>({.threads = 1, .forkable = false}, program);
  else if (backend == "stealing")
    schedule<stealing>({.threads = 1, .forkable = false}, program);
  else if (backend == "random")
    schedule<random_order>({.forkable = false}, program);
  else
    schedule({.forkable = backend == "forkable"}, program);
}
