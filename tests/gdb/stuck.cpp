// SPDX-License-Identifier: MIT

// stuck [BACKEND]: processes that wait, are ready, and run; one of them ends the program by abort().
// stuck BACKEND turns: 200 processes that yield; one of them calls stops() in its fourth turn.  From then on each
// process writes its id when it runs, and ends.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/sched/backends/random_order.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/sharing.hpp>
#include <weft/sched/stealing.hpp>
#include <weft/trace/trace.hpp>
#include <weft/trace/tracing.hpp>

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

bool has_stopped = false;
[[gnu::noinline]] void stops() { has_stopped = true; }

eff<void, proc> says(std::string id) {
  std::puts(id.c_str());
  co_return;
}
eff<void, spawning<proc>, proc> takes_turns(int number) {
  std::string const id = "1." + std::to_string(number);
  for (int turn = 1; !has_stopped; ++turn) {
    if (number == 150 && turn == 4) {
      for (int i = 1; i != 4; ++i) co_await spawn(says, id + "." + std::to_string(i));
      stops();
      co_return;
    }
    co_await proc::yield{};
  }
  std::puts(id.c_str());
}
eff<void, spawning<proc>, proc> turns() {
  for (int i = 1; i != 201; ++i) co_await spawn(takes_turns, i);
}

template <class Program>
void run_on(std::string_view backend, Program const& what) {
  if (backend == "sharing")
    schedule<sharing>({.threads = 1, .forkable = false}, what);
  else if (backend == "stealing")
    schedule<stealing>({.threads = 1, .forkable = false}, what);
  else if (backend == "random")
    schedule<random_order>({.forkable = false}, what);
  else if (backend == "traced") {
    weft::trace t;
    schedule<tracing<>>({.forkable = false, .trace = &t}, what);
  } else {
    schedule({.forkable = backend == "forkable"}, what);
  }
}

int main(int argc, char** argv) {
  std::string_view const backend = argc > 1 ? argv[1] : "";
  if (argc > 2)
    run_on(backend, turns);
  else
    run_on(backend, program);
}
