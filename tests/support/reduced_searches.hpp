// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include "tests/support/acts.hpp"
#include "tests/support/effects.hpp"
#include "tests/support/random_processes.hpp"
#include "weft/effects/effects.hpp"
#include "weft/testing/explore.hpp"

/// The reduced search of a program against the search that visits every schedule.
namespace weft::tests {

struct counts_up {
  explicit counts_up(int& count) : n(&count) {}
  int* n;
  int on(ask::get) { return ++*n; }
};

inline exploration explored(explore_options const& options, scenario const& l) {
  return explore(
      options, [&l] { return std::make_unique<shared_world>(l); },
      [](std::unique_ptr<shared_world>& w) { return starts_all(*w); },
      [](std::unique_ptr<shared_world> const& w) { return text(*w); },
      [](std::unique_ptr<shared_world>& w) { return console_to_string(w->out); },
      [](std::unique_ptr<shared_world>& w) { return counts_up(w->asked); });
}

using outcomes = std::set<std::string>;
inline outcomes outcomes_of(exploration const& e) {
  outcomes all;
  for (auto const& o : e.outcomes)
    all.insert(std::to_string(static_cast<int>(o.result.verdict)) + ' ' + o.result.text);
  return all;
}

/// A failure of the reduction for that program; none, if it has too many schedules.
struct compared {
  bool is_small = false;
  std::size_t full = 0, reduced = 0;  // schedules
  std::string complaint;
  outcomes all;
};
inline compared compare(scenario const& l, granularity grain, std::size_t most) {
  compared c;
  auto const full = explored({.max_schedules = most,
                              .max_steps = 300,
                              .granularity = grain,
                              .max_shrinking_runs = 0,
                              .progress = progress::never},
                             l);
  c.full = full.schedules;
  c.is_small = full.complete;
  if (full.nondeterminism) c.complaint = "the full search: " + full.what_differed;
  if (full.leaked) c.complaint = "the full search leaks";
  if (!full.complete || !c.complaint.empty()) return c;
  auto const less = explored({.max_schedules = most,
                              .max_steps = 300,
                              .granularity = grain,
                              .reduce = true,
                              .max_shrinking_runs = 0,
                              .progress = progress::never},
                             l);
  c.reduced = less.schedules;
  c.all = outcomes_of(full);
  auto const few = outcomes_of(less);
  if (less.nondeterminism)
    c.complaint = less.what_differed;
  else if (less.leaked)
    c.complaint = "leaks";
  else if (less.schedules > full.schedules)
    c.complaint = "more schedules";
  else if (!less.complete)
    c.complaint = "not complete";
  else
    for (auto const& o : c.all)
      if (!few.contains(o)) c.complaint = "does not find: " + o;
  for (auto const& o : few)
    if (c.complaint.empty() && !c.all.contains(o)) c.complaint = "finds: " + o;
  return c;
}

}  // namespace weft::tests
