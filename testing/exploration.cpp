// SPDX-License-Identifier: MIT
#include "weft/testing/exploration.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "weft/testing/path.hpp"

namespace weft {

std::string schedule_step::text() const {
  std::string s = preempts ? "! " : switches ? "> " : "  ";
  s += "process " + process.text();
  if (is_event)
    s += ": " + std::string(operation) + " takes effect";
  else if (operation.empty())
    s += " begins";
  else
    s += " goes on from " + std::string(operation) + " at " + detail::text(where);
  char const* between = "; decided: ";
  for (auto const& d : decisions)
    if (d.taken != 0) s += std::exchange(between, ", ") + d.text();
  return s;
}

std::string exploration::report() const {
  std::string s = summary();
  if (auto const* const o = first_failure()) s += "the first failure: " + text(*o);
  return s;
}
std::string exploration::summary() const {
  std::string s = several(schedules, "schedule") + ", " + std::to_string(failed) + " failed, " +
                  several(deadlocks, "deadlock");
  if (cut) s += ", " + std::to_string(cut) + " cut";
  if (redundant) s += ", " + std::to_string(redundant) + " given up as redundant";
  if (!complete) s += ", not all there are";
  s += '\n';
  if (nondeterminism) s += "nondeterminism: " + what_differed + '\n';
  if (leaked)
    s += "leak: " + std::to_string(leaked) + " frames are left, first by follow(\"" +
         leak_path.text() + "\", ...)\n";
  if (!page.empty()) s += "page: " + page + '\n';
  return s;
}
std::string exploration::text(outcome const& o) {
  return story(o) + "to see it again: follow(\"" + o.path.text() + "\", ...)\n";
}
std::string exploration::story(outcome const& o) {
  std::string s = o.result.text.empty() && o.is_wrong() ? "the check failed" : o.result.text;
  s += '\n' + several(o.preemptions, "preemption") + " (!), " +
       several(o.switches - o.preemptions, "other switch", "es") + " (>)";
  if (o.decisions != 0) s += ", " + several(o.decisions, "decision") + " (decided)";
  s += '\n';
  for (auto const& step : o.trace) s += step.text() + '\n';
  return s;
}
exploration::outcome* exploration::add(run_result const& result) {
  ++schedules;
  failed += result.verdict == verdict::failed;
  deadlocks += result.verdict == verdict::deadlock;
  cut += result.verdict == verdict::cut;
  complete = complete && result.verdict != verdict::cut;
  for (auto& o : outcomes)
    if (o.result == result) {
      ++o.schedules;
      return nullptr;
    }
  if (outcomes.empty()) outcomes.reserve(4);
  outcome& fresh = outcomes.emplace_back();
  fresh.result = result;
  fresh.schedules = 1;
  return &fresh;
}
std::string exploration::several(std::size_t n, std::string const& what, std::string const& s) {
  return std::to_string(n) + ' ' + what + (n == 1 ? "" : s);
}
exploration::outcome const* exploration::first_failure() const noexcept {
  for (auto const& o : outcomes)
    if (o.is_wrong()) return &o;
  return nullptr;
}

}  // namespace weft
