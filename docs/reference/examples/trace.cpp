// SPDX-License-Identifier: MIT
// The events of a traced scheduler, and of a traced handler.
#include <iostream>
#include <string>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/trace/trace_files.hpp>
#include <weft/trace/traced_handler.hpp>
#include <weft/trace/tracing.hpp>
using namespace weft;

eff<void, mail> sends(address<int> to) { co_await to.send(7); }
eff<void, spawning<mail>, mail, state<int>> program() {
  auto [in, to] = co_await open<int>();
  co_await spawn(sends, std::move(to));
  int const n = co_await in.receive();
  co_await state<int>::put{n};
}

int main() {
  weft::trace t(trace_options{.max_events = 1000, .max_text = 1000, .file = ""});
  schedule<tracing<>>({.trace = &t}, program, state_of(0));
  for (trace_event const& e : t.events()) {
    if (e.kind != trace_kind::send && e.kind != trace_kind::receive && e.kind != trace_kind::put)
      continue;
    std::cout << e.process.text() << ' ' << name_of_kind(e.kind);
    if (e.kind == trace_kind::put) std::cout << ' ' << name_of_reason(e.reason);
    std::cout << (e.object == 0 ? "" : " a mailbox")
              << (e.worker == trace_event::outside ? " outside" : "")
              << (e.time < 0 || e.is_replayed ? " ?" : "") << '\n';
  }

  weft::trace of_handler;
  state_of<int> variable(1);
  traced_handler<state_of<int>&> watched = traced(variable, of_handler);
  run(handle<state<int>>(watched, []() -> eff<void, state<int>> { co_await state<int>::put{2}; }));
  traced_returning_handler<state_returned<int>> returning = traced(state_returned(0), of_handler);
  run(handle<state<int>>(returning,
                         []() -> eff<void, state<int>> { (void)co_await state<int>::get{}; }));
  for (trace_event const& e : of_handler.events())
    std::cout << name_of_kind(e.kind) << ' ' << e.operation << " by " << e.handler << e.text
              << (e.depth == trace_event::unknown ? "" : ", the innermost of ") << e.under << '\n';
  std::cout << of_handler.dropped() << of_handler.texts_dropped() << '\n';
}
