// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <utility>
#include <vector>

#include "sched/detail/every_schedule.hpp"
#include "sched/detail/one_run.hpp"
#include "sched/exploration.hpp"
#include "sched/process_id.hpp"

/// Makes a schedule smaller that ends in a certain way: fewest preemptions, then fewest switches,
/// then fewest steps.
///
///   K1  What is tried is run.  So what comes out has been seen to end in that way.
///   K2  First turns are moved: a turn, which is a process and how many steps it takes, is left out
///       (it comes when all others wait), or joined to the one before or behind it of the same
///       process.  That is quick, and ends where no single move helps.
///   K3  Then all schedules are tried that have as many preemptions at most, the fewest first, with
///       the rest of the runs that there may be.  If they suffice none is smaller.
namespace weft::detail {

struct turn {
  process_id process;
  std::size_t steps;
};

/// Takes turns as long as that goes: who waits, or has ended, is passed over.  Then whoever ran
/// last goes on, or the first.
class taking_turns final : public chooser {
 public:
  explicit taking_turns(std::vector<turn> const& t) : turns_(t) {}

  std::size_t choose(candidates const& who) override {
    for (; at_ != turns_.size(); ++at_, taken_ = 0) {
      if (taken_ == turns_[at_].steps) continue;
      for (std::size_t i = 0; i != who.size(); ++i)
        if (who[i] == turns_[at_].process) return ++taken_, i;
    }
    return who.last == candidates::nobody ? 0 : who.last;
  }

 private:
  std::vector<turn> const& turns_;
  std::size_t at_ = 0;
  std::size_t taken_ = 0;
};

class shrinking {
 public:
  /// `o` has a path and a trace.  `most_runs`: how often the program is run at most.
  shrinking(subject& s, run_limits const& each, exploration::outcome& o, std::size_t most_runs)
      : subject_(s), limits_(each), best_(o), runs_left_(most_runs) {
    size_ = {o.preemptions, o.switches, o.trace.size()};
  }
  shrinking(shrinking const&) = delete;
  shrinking& operator=(shrinking const&) = delete;

  void run() {
    if (runs_left_ == 0) return;
    move_turns_while_it_helps();
    if (try_all()) move_turns_while_it_helps();
  }

 private:
  struct size {
    std::size_t preemptions, switches, steps;
    friend auto operator<=>(size const&, size const&) = default;
  };

  /// Whether it ends in that way, and is smaller: then it is the best.
  bool is_better(chooser& c) {
    if (runs_left_ == 0) return false;
    --runs_left_;
    std::vector<schedule_step> trace;
    log_.trace = &trace;
    auto const result = subject_.run(c, log_, limits_);
    size const now{log_.preemptions, log_.switches, log_.steps};
    if (result != best_.result || !(now < size_)) return false;
    size_ = now;
    best_.preemptions = now.preemptions;
    best_.switches = now.switches;
    best_.trace = std::move(trace);
    best_.path = log_.path(limits_.granularity);
    return true;
  }

  [[nodiscard]] std::vector<turn> turns() const {
    std::vector<turn> all;
    for (auto const& step : best_.trace) {
      if (all.empty() || all.back().process != step.process) all.push_back({step.process, 0});
      ++all.back().steps;
    }
    return all;
  }
  bool tries(std::vector<turn> const& t) {
    taking_turns c(t);
    return is_better(c);
  }
  /// Whether one of the moves has helped (K2).
  bool move_turns() {
    auto const all = turns();
    for (std::size_t i = 0; i != all.size(); ++i) {
      auto const same = [&](turn const& t) { return t.process == all[i].process; };
      auto const at = [](auto const& from, auto it) { return static_cast<std::size_t>(it - from); };

      auto without = all;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      if (tries(without)) return true;

      auto const next =
          at(without.begin(),
             std::find_if(without.begin() + static_cast<std::ptrdiff_t>(i), without.end(), same));
      if (next != without.size()) {
        auto later = without;
        later[next].steps += all[i].steps;
        if (tries(later)) return true;
      }
      for (std::size_t before = i; before-- != 0;)
        if (same(all[before])) {
          auto earlier = without;
          earlier[before].steps += all[i].steps;
          if (tries(earlier)) return true;
          break;
        }
    }
    return false;
  }
  void move_turns_while_it_helps() {
    while (move_turns()) {
    }
  }
  /// K3.  Whether one of them is smaller.
  bool try_all() {
    bool has_helped = false;
    for (std::size_t bound = 0; bound <= size_.preemptions; ++bound) {
      every_schedule c(bound);
      do {
        if (runs_left_ == 0) return false;
        has_helped |= is_better(c);
      } while (bound <= size_.preemptions && c.next());
    }
    return has_helped;
  }

  subject& subject_;
  run_limits const limits_;
  exploration::outcome& best_;
  size size_;
  std::size_t runs_left_;
  run_log log_;
};

}  // namespace weft::detail
