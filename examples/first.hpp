// SPDX-License-Identifier: MIT
#pragma once
// What most examples and programs of the book include, parsed once (tools/parsed_once.bzl).  Where
// docs/pages/traced.hpp makes traced_schedule of `schedule`, traced_handle of `handle`, and
// traced_explore and traced_check_schedules of the searches, the runs of a program are traced, and a page is written to the file
// WEFT_PAGE: of the runs of schedulers; else of the first failure that an explorer finds; else of the
// handlers.

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
#include "weft/testing/testing.hpp"
#include "weft/trace/trace_files.hpp"
#include "weft/trace/traced_handler.hpp"
#include "weft/trace/tracing.hpp"

namespace weft {

/// The runs of a program, in their order.
struct traced_runs {
  static constexpr trace_options limits{.max_events = 5'000};

  static char const* file() noexcept { return std::getenv("WEFT_PAGE"); }

  std::list<trace> traces;
  int schedulers = 0;           // that run now
  bool are_scheduled = false;   // some of the runs
  bool is_of_handlers = false;  // the last run
  bool is_failure_shown = false;

  traced_runs() = default;
  traced_runs(traced_runs const&) = delete;
  traced_runs& operator=(traced_runs const&) = delete;
  ~traced_runs() {
    if (traces.empty() || (is_failure_shown && !are_scheduled)) return;
    std::vector<std::vector<trace_event>> events;
    for (trace const& t : traces) events.push_back(t.events());
    trace_page page;
    for (auto const& of_run : events)
      page.runs.push_back({.title = {}, .events = of_run, .steps = {}});
    for (trace const& t : traces) page.dropped += t.dropped();
    std::ofstream to(file());
    write_page(page, to);
  }
};
inline traced_runs the_runs;

/// A scheduler runs as long as it exists.
struct traced_scheduler {
  traced_scheduler() {
    ++the_runs.schedulers;
    the_runs.are_scheduled = true;
    the_runs.is_of_handlers = false;
  }
  traced_scheduler(traced_scheduler const&) = delete;
  traced_scheduler& operator=(traced_scheduler const&) = delete;
  ~traced_scheduler() { --the_runs.schedulers; }
};

template <backend Backend = one_thread, class Program, class... Handlers>
void traced_schedule(typename scheduler<tracing<Backend>>::options options, Program program,
                     Handlers&&... handlers) {
  traced_scheduler const now;
  options.trace = &the_runs.traces.emplace_back(traced_runs::limits);
  schedule<tracing<Backend>>(options, std::move(program), std::forward<Handlers>(handlers)...);
}
template <backend Backend = one_thread, class Program, class... Handlers>
  requires(!std::convertible_to<Program, typename scheduler<tracing<Backend>>::options>)
void traced_schedule(Program program, Handlers&&... handlers) {
  traced_schedule<Backend>(typename scheduler<tracing<Backend>>::options(), std::move(program),
                           std::forward<Handlers>(handlers)...);
}

/// A handler, traced; of a composition, each.  Handlers outside schedulers are one run, until the
/// next scheduler.
template <class H>
auto traced_in_the_runs(H&& h) {
  if (the_runs.schedulers == 0 && !std::exchange(the_runs.is_of_handlers, true))
    the_runs.traces.emplace_back(traced_runs::limits);
  return traced(std::forward<H>(h), the_runs.traces.back());
}
template <class H, class... Es>
auto traced_in_the_runs(detail::handler_with<H, row<Es...>> h) {
  return with<Es...>(traced_in_the_runs(std::forward<H>(h.h)));
}
template <class Inner, class Outer>
auto traced_in_the_runs(detail::composed<Inner, Outer> h) {
  return traced_in_the_runs(std::forward<Inner>(h.inner)) |
         traced_in_the_runs(std::forward<Outer>(h.outer));
}
template <class... Effects, class H, class Body, multi_shot_policy Policy = replay>
auto traced_handle(H&& h, Body&& body, Policy policy = {}) {
  return handle<Effects...>(traced_in_the_runs(std::forward<H>(h)), std::forward<Body>(body),
                            policy);
}

/// A search that writes the page of its failure, if it is the first one.
template <class Options, class Search>
exploration traced_search(Options options, Search search) {
  if (!the_runs.are_scheduled && !the_runs.is_failure_shown) options.page = traced_runs::file();
  exploration found = search(options);
  the_runs.is_failure_shown |= !std::exchange(found.page, {}).empty();  // the report stays the same
  return found;
}
template <class... Args>
exploration traced_explore(explore_options options, Args... args) {
  return traced_search(options, [&](auto const& how) { return explore(how, std::move(args)...); });
}
template <class MakeState, class... Args>
  requires(!std::is_same_v<MakeState, explore_options>)
exploration traced_explore(MakeState make_state, Args... args) {
  return traced_explore(explore_options(), std::move(make_state), std::move(args)...);
}
template <class... Args>
exploration traced_check_schedules(check_options options, Args... args) {
  return traced_search(options, [&](auto const& how) -> exploration {
    return check_schedules(how, std::move(args)...);
  });
}
template <class MakeState, class... Args>
  requires(!std::is_same_v<MakeState, check_options>)
exploration traced_check_schedules(MakeState make_state, Args... args) {
  return traced_check_schedules(check_options(), std::move(make_state), std::move(args)...);
}

}  // namespace weft
