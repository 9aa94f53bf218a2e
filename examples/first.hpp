// SPDX-License-Identifier: MIT
#pragma once
// What most examples and programs of the book include, parsed once (tools/parsed_once.bzl).  Where
// docs/pages/traced.hpp makes traced_schedule of `schedule`, the runs of a program are traced, and when
// it ends, their page is written to the file WEFT_PAGE.

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"
#include "weft/sched/stealing.hpp"
#include "weft/sched/testing.hpp"
#include "weft/trace/trace_files.hpp"
#include "weft/trace/tracing.hpp"

namespace weft {

/// The runs of a program, in their order.
struct traced_runs {
  static constexpr trace_options limits{.max_events = 5'000};

  std::list<trace> traces;

  traced_runs() = default;
  traced_runs(traced_runs const&) = delete;
  traced_runs& operator=(traced_runs const&) = delete;
  ~traced_runs() {
    if (traces.empty()) return;
    std::vector<std::vector<trace_event>> events;
    for (trace const& t : traces) events.push_back(t.events());
    trace_page page;
    for (auto const& of_run : events)
      page.runs.push_back({.title = {}, .events = of_run, .steps = {}});
    for (trace const& t : traces) page.dropped += t.dropped();
    std::ofstream file(std::getenv("WEFT_PAGE"));
    write_page(page, file);
  }
};
inline traced_runs the_runs;

template <backend Backend = one_thread, class Program, class... Handlers>
void traced_schedule(typename scheduler<tracing<Backend>>::options options, Program program,
                     Handlers&&... handlers) {
  options.trace = &the_runs.traces.emplace_back(traced_runs::limits);
  schedule<tracing<Backend>>(options, std::move(program), std::forward<Handlers>(handlers)...);
}
template <backend Backend = one_thread, class Program, class... Handlers>
  requires(!std::convertible_to<Program, typename scheduler<tracing<Backend>>::options>)
void traced_schedule(Program program, Handlers&&... handlers) {
  traced_schedule<Backend>(typename scheduler<tracing<Backend>>::options(), std::move(program),
                           std::forward<Handlers>(handlers)...);
}

}  // namespace weft
