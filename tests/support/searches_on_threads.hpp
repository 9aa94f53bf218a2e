// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "tests/support/frames.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/testing/testing.hpp"

/// The searches of several threads against that of one.
namespace weft::tests {

/// Everything that a result says.
inline std::string all_of(exploration const& e) {
  std::string s = e.report() + std::to_string(e.schedules) + ' ' + std::to_string(e.failed) + ' ' +
                  std::to_string(e.deadlocks) + ' ' + std::to_string(e.cut) + ' ' +
                  std::to_string(e.complete) + ' ' + std::to_string(e.leaked) + ' ' +
                  e.leak_path.text() + '\n';
  for (auto const& o : e.outcomes)
    s += std::to_string(static_cast<int>(o.result.verdict)) + ' ' + std::to_string(o.schedules) +
         ' ' + o.path.text() + ' ' + o.found.text() + '\n' + exploration::text(o);
  return s;
}
/// Compares the results of one thread and of several.  `search(options)` explores.
template <class Search>
exploration same_on_threads(explore_options options, Search search) {
  options.progress = progress::never;
  exploration const one = search(options);
  for (unsigned const threads : {2U, 4U}) {
    options.threads = threads;
    every_frame_dies const here;
    exploration const several = search(options);
    CHECK(all_of(several) == all_of(one));
  }
  return one;
}
template <class MakeState, class Program, class Check, class... Handlers>
exploration same_on_threads(explore_options const& options, MakeState make_state, Program program,
                            Check check, Handlers... handlers) {
  return same_on_threads(options, [&](explore_options const& o) {
    return explore(o, make_state, program, check, handlers...);
  });
}

inline eff<void, proc> increments(int& n, int times) {
  for (int i = 0; i != times; ++i) {
    int const seen = n;
    co_await proc::yield{};
    n = seen + 1;
  }
}
inline auto counters(int processes, int times) {
  return [=](int& n) -> eff<void, spawning<proc>> {
    for (int i = 0; i != processes; ++i) co_await spawn(increments, std::ref(n), times);
  };
}
inline int zero() { return 0; }
inline std::string the_number(int n) { return std::to_string(n); }

}  // namespace weft::tests
