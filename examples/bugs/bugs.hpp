// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/mutex.hpp"
#include "weft/sched/sync/shared.hpp"
#include "weft/testing/testing.hpp"

/// Concurrency bugs that others have published, in the words of weft: what a program did, not its
/// code.  What threads of the original read and wrote without a lock is a `shared` here, so that
/// each access is a step.
namespace bugs {

/// A process of the programs here.
using worker = weft::eff<void, weft::syncing>;
/// A program of several of them.
using workers = weft::eff<void, weft::syncing, weft::spawning<weft::syncing>>;

struct bug {
  std::string_view name;
  std::string_view kind;
  std::string_view from;
  weft::exploration (*look)(weft::check_options const&);
  bool is_found = true;  ///< By check_schedules, in its time.
};

/// The world of a program is made anew for each schedule; `check(world)` says whether it is right.
template <class World, workers (*Program)(World&), bool (*Is_right)(World&)>
weft::exploration look(weft::check_options const& how) {
  return weft::check_schedules(
      how, [] { return std::make_unique<World>(); },
      [](std::unique_ptr<World>& w) { return Program(*w); },
      [](std::unique_ptr<World>& w) { return Is_right(*w); });
}
/// For programs whose bug is a deadlock.
template <class World>
bool ends(World&) {
  return true;
}

extern std::vector<bug> const races;
extern std::vector<bug> const waits;

}  // namespace bugs
