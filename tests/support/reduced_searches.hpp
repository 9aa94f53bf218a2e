// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch.hpp>
#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include "tests/support/effects.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/dialects.hpp"
#include "tests/support/random_programs/laws.hpp"
#include "tests/support/random_programs/processes.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/random_programs/running.hpp"
#include "tests/support/random_programs/world.hpp"
#include "tests/support/seeds.hpp"
#include "weft/effects/effects.hpp"
#include "weft/testing/explore.hpp"

/// The reduced search of a program against the search that visits every schedule.
namespace weft::tests {

inline exploration explored(explore_options const& options, program_of_acts const& l) {
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
inline compared compare(program_of_acts const& l, granularity grain, std::size_t most) {
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

/// Compares random programs; those with too many schedules do not count.
inline void compares_all(seeds const& some, granularity grain, unsigned most_acts,
                         std::size_t most) {
  unsigned tried = 0, small = 0;
  std::size_t full = 0, reduced = 0;
  check_law(some, schedule_dialect(most_acts),
            [&](program_of_acts const& p, unsigned) -> std::string {
              // Another process may end the gate between the look and the wait: not a valid program.
              if (grain == granularity::parallel && p.has(act::ends_gate)) return "";
              auto const c = compare(p, grain, most);
              ++tried;
              small += c.is_small;
              full += c.is_small ? c.full : 0;
              reduced += c.reduced;
              if (grain == granularity::cooperative || !c.is_small || !c.complaint.empty())
                return c.complaint;
              auto const coarse = compare(p, granularity::cooperative, most);
              for (auto const& o : coarse.all)
                if (!c.all.contains(o)) return "not found: " + o;
              return coarse.complaint;
            });
  if (some.only_some()) return;
  CHECK(small > tried * 8 / 10);
  CHECK(reduced < full / 4);
}

// ---- programs for which it once failed

/// Empty if the reduction finds the outcomes of the full search, and there are `how_many` of them.
inline std::string cooperative_complaint(program_of_acts const& l, std::size_t how_many) {
  every_frame_dies const here;
  auto const c = compare(l, granularity::cooperative, 100'000);
  if (!c.is_small) return "too many schedules";
  if (!c.complaint.empty()) return c.complaint;
  if (c.all.size() == how_many) return "";
  std::string s = "another number of outcomes:";
  for (auto const& o : c.all) s += "\n  " + o;
  return s;
}

/// As cooperative_complaint() for both granularities; the number of outcomes is checked for the cooperative one only.
inline std::string complaint(program_of_acts const& l, std::size_t how_many) {
  auto const found = cooperative_complaint(l, how_many);
  if (!found.empty()) return found;
  every_frame_dies const here;
  auto const fine = compare(l, granularity::parallel, 100'000);
  if (!fine.is_small) return "too many schedules in parallel";
  return fine.complaint.empty() ? "" : "in parallel: " + fine.complaint;
}

}  // namespace weft::tests
