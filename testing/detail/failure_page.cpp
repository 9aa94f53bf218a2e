// SPDX-License-Identifier: MIT
#include "weft/testing/detail/failure_page.hpp"

#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/sched/base/trace_event.hpp"
#include "weft/testing/detail/controlled_backend.hpp"
#include "weft/testing/detail/every_schedule.hpp"
#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/exploration.hpp"
#include "weft/testing/path.hpp"
#include "weft/trace/trace.hpp"
#include "weft/trace/trace_files.hpp"

namespace weft::detail {
namespace {

/// The trace of a schedule that was run once more.
struct traced_run {
  trace all;
  std::vector<trace_event> events;
  std::vector<std::string> steps;
};

std::unique_ptr<traced_run> run_again(subject& program, run_limits const& each,
                                      schedule_path const& path) {
  auto r = std::make_unique<traced_run>();
  replay_strategy by(path);
  run_log log;
  std::vector<schedule_step> steps;
  log.trace = &steps;
  (void)program.run_traced(by, log, each, r->all);
  r->events = r->all.events();
  for (schedule_step const& s : steps) r->steps.push_back(s.text());
  return r;
}

char const* word_for(verdict v) noexcept {
  switch (v) {
    case verdict::ok:
      return "right";
    case verdict::failed:
      return "failed";
    case verdict::deadlock:
      return "deadlock";
    case verdict::cut:
      return "cut";
    case verdict::no_progress:
      return "livelock";
  }
  return "";
}

}  // namespace

void write_page_of(std::string_view file, subject& program, run_limits const& each,
                   exploration::outcome const& o, exploration& found) {
  if (file.empty()) return;
  auto const smallest = run_again(program, each, o.path);
  bool const was_shrunk = o.found != o.path && o.found.length() != 0;
  auto const first = was_shrunk ? run_again(program, each, o.found) : nullptr;
  std::string const how =
      std::string(word_for(o.result.verdict)) + (o.result.text.empty() ? "" : ": " + o.result.text);
  trace_page page;
  page.runs.push_back({(was_shrunk ? "the smallest schedule, " : "the schedule, ") + how,
                       smallest->events, smallest->steps});
  if (first) page.runs.push_back({"the schedule as it was found", first->events, first->steps});
  for (exploration::outcome const& each_outcome : found.outcomes)
    page.outcomes.push_back({word_for(each_outcome.result.verdict), each_outcome.result.text,
                             std::to_string(each_outcome.schedules) +
                                 (each_outcome.schedules == 1 ? " schedule" : " schedules"),
                             each_outcome.path.text()});
  found.page = file;
  std::ofstream to(found.page);
  if (to) write_page(page, to);
  if (!to.flush()) throw std::runtime_error("weft: the page cannot be written: " + found.page);
}

void write_page_of_failure(std::string_view file, subject& program, run_limits const& each,
                           exploration& found) {
  if (found.nondeterminism) return;
  if (auto const* const o = found.first_failure()) write_page_of(file, program, each, *o, found);
}

}  // namespace weft::detail
