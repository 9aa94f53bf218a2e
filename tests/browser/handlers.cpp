// SPDX-License-Identifier: MIT

// handlers FILE: writes the trace of a run of two processes; the first one is under handlers of its own, some of them
// traced.

#include <functional>
#include <string>
#include <utility>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/trace/trace.hpp"
#include "weft/trace/trace_files.hpp"
#include "weft/trace/traced_handler.hpp"
#include "weft/trace/tracing.hpp"

using namespace weft;

struct counter {
  struct next : op<int> {};
  struct later : op<int> {};
  using operations = op_list<next, later>;
};
struct counting : handler<counter> {
  int n = 0;
  int on(counter::next) { return ++n; }
  static outcome<void> on(counter::later, resumption<int> k) { return std::move(k).last(9); }
};
eff<void, counter, reader<int>, state<int>, console, proc> works() {
  (void)co_await counter::next{};
  (void)co_await state<int>::get{};
  (void)co_await outer_of<state<int>>(state<int>::get{});
  (void)co_await counter::later{};
  co_await console::print_line{"inside"};
  co_await proc::yield{};
}
eff<void, console, proc> handles(trace& t) {
  auto body = [&t]() -> eff<void, state<int>, console, proc> {
    co_await handle(with<state<int>>(traced(state_of(1), t)) | traced(counting(), t) |
                        with<reader<int>>(reader_of(3)),
                    works);
  };
  co_await handle<state<int>>(traced(state_of(2), t), body);
}
eff<void, console, proc> prints() {
  co_await console::print_line{"beside"};
  co_await proc::yield{};
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  weft::trace t;
  auto const program = [&t]() -> eff<void, spawning<console, proc>> {
    co_await spawn(handles, std::ref(t));
    co_await spawn(prints);
  };
  std::string printed;
  schedule<tracing<>>({.forkable = false, .trace = &t}, program, console_to_string(printed));
  write_trace(t, argv[1]);
}
