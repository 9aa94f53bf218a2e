// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/dice.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/gate.hpp"
#include "weft/sched/sync/mutex.hpp"
#include "weft/testing/detail/every_schedule.hpp"
#include "weft/testing/testing.hpp"

/// For tests of the searches: all runs of a small program, and small programs.
namespace weft::tests {

struct one_run {
  run_result result;
  schedule_path path;
  std::size_t preemptions;
  std::size_t switches;
  std::size_t steps;
};

/// All runs, without a bound or a reduction: the reference for the searches.  If there are more
/// than `most`, most + 1.
template <class MakeState, class Program, class Check>
std::vector<one_run> every_run(MakeState make_state, Program program, Check check,
                               std::size_t most = 100'000,
                               granularity g = granularity::cooperative) {
  detail::subject_of s(make_state, program, check);
  detail::every_schedule c({});
  detail::run_log log;
  std::vector<one_run> all;
  do {
    auto result = s.run(c, log, {1'000, g});
    all.push_back({std::move(result), log.path(g), log.preemptions, log.switches, log.steps});
  } while (all.size() <= most && c.next());
  return all;
}

/// The smallest number of preemptions of a run with that result.
inline std::size_t fewest_preemptions(std::vector<one_run> const& all, run_result const& result) {
  std::size_t fewest = static_cast<std::size_t>(-1);
  for (auto const& r : all)
    if (r.result == result) fewest = std::min(fewest, r.preemptions);
  return fewest;
}

// ---- independent processes

/// Appends its name at each step.
inline eff<void, proc> writes_steps(std::string& order, char name, unsigned steps) {
  order += name;
  for (unsigned i = 1; i < steps; ++i) {
    co_await proc::yield{};
    order += name;
  }
}
/// Processes a, b, ... with so many steps.
inline auto independent(std::vector<unsigned> steps) {
  return [steps = std::move(steps)](std::string& order) -> eff<void, spawning<proc>> {
    char name = 'a';
    for (auto const n : steps) co_await spawn(writes_steps, std::ref(order), name++, n);
  };
}
inline std::string no_order() { return ""; }
inline std::string the_order(std::string const& s) { return s; }

// ---- random programs

/// An act of a process.  A number, a mutex and a gate are shared.
enum class small_act {
  yields,
  adds,        ///< In two steps, with a yield between reading and writing.
  adds_alone,  ///< The same, under the mutex.
  doubles,
  waits,  ///< At the gate, for a later wake-up.
  wakes,
  count
};
using small_program = std::vector<std::vector<small_act>>;

struct small_world {
  int n = 1;
  mutex free;
  gate door;
};
using small_process = eff<void, proc, syncing>;

inline small_process adds_one(small_world& w) {
  int const seen = w.n;
  co_await proc::yield{};
  w.n = seen + 1;
}
inline small_process acts(small_world& w, std::vector<small_act> const& all) {
  for (small_act const a : all) {
    if (a == small_act::yields) {
      co_await proc::yield{};
    } else if (a == small_act::adds) {
      co_await adds_one(w);
    } else if (a == small_act::adds_alone) {
      auto const held = co_await w.free.lock();
      co_await adds_one(w);
    } else if (a == small_act::doubles) {
      w.n *= 2;
    } else if (a == small_act::waits) {
      co_await syncing::wait{w.door};
    } else {
      co_await syncing::wake{w.door};
    }
  }
}
/// Two or three processes.
inline small_program draw_small_program(dice& d) {
  small_program p(2 + d(2));
  for (auto& process : p)
    for (unsigned i = 1 + d(p.size() == 2 ? 4 : 2); i != 0; --i)
      process.push_back(static_cast<small_act>(d(static_cast<unsigned>(small_act::count))));
  return p;
}

inline std::unique_ptr<small_world> make_small_world() { return std::make_unique<small_world>(); }
inline auto running(small_program const& p) {
  return [&p](std::unique_ptr<small_world>& w) -> eff<void, spawning<proc, syncing>> {
    for (auto const& process : p) co_await spawn(acts, std::ref(*w), std::cref(process));
  };
}
/// A run with an odd number is wrong.
inline run_result number(std::unique_ptr<small_world> const& w) {
  return {w->n % 2 == 0 ? verdict::ok : verdict::failed, std::to_string(w->n)};
}

}  // namespace weft::tests
