// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <utility>
#include <vector>

#include "weft/sched/base/process_id.hpp"
#include "weft/testing/detail/every_schedule.hpp"
#include "weft/testing/detail/one_run.hpp"
#include "weft/testing/detail/strategy.hpp"
#include "weft/testing/exploration.hpp"

/// Shrinks a schedule that ends in a certain way: to the fewest decisions that are not 0, of these
/// to the fewest preemptions, then the fewest switches, then the fewest steps, then the smallest
/// decisions.
///
///   SHRINK-1  Each schedule that is tried is run.  So the result has been seen to end in that way.
///   SHRINK-2  First turns are moved: here a turn is a process and a number of steps.  A turn is
///       left out (its steps then come when no other turn can be taken), or is joined to the
///       previous or the next turn of the same process.  Decisions are set to 0, or to a smaller
///       way.  This is quick, and ends where no single move helps.
///   SHRINK-3  Then, with the runs that are left, all schedules are tried that have at most as many
///       decisions that are not 0, and at most as many preemptions, the fewest first.  If the runs
///       suffice, no schedule is smaller than the result.
///   SHRINK-4  Decisions belong to their processes: the n-th decision of a process remains its n-th
///       when turns are moved.
namespace weft::detail {

struct turn {
  process_id process;
  std::size_t steps;
};
/// A decision of a process (SHRINK-4).
struct decided {
  process_id process;
  unsigned taken;
};

/// Takes the turns in order, and skips the turn of a process that waits or has ended.  After the
/// last turn, the process that ran last goes on if it can, or else the first candidate runs.  A
/// decision is 0 if the list has none left for its process, or one for which there is no way.
class taking_turns final : public strategy {
 public:
  taking_turns(std::vector<turn> const& t, std::vector<decided> d)
      : turns_(t), decided_(std::move(d)) {}

  std::size_t choose(candidates const& who) override {
    std::size_t const next = pick(who);
    running_ = who[next];
    return next;
  }
  std::size_t decide(std::size_t ways) override {
    auto const it = std::ranges::find(decided_, running_, &decided::process);
    if (it == decided_.end()) return 0;
    std::size_t const taken = it->taken;
    decided_.erase(it);
    return taken < ways ? taken : 0;
  }

 private:
  std::size_t pick(candidates const& who) {
    for (; at_ != turns_.size(); ++at_, taken_ = 0) {
      if (taken_ == turns_[at_].steps) continue;
      for (std::size_t i = 0; i != who.size(); ++i)
        if (who[i] == turns_[at_].process) return ++taken_, i;
    }
    return who.last == candidates::none ? 0 : who.last;
  }

  std::vector<turn> const& turns_;
  std::vector<decided> decided_;
  process_id running_;
  std::size_t at_ = 0;
  std::size_t taken_ = 0;
};

class shrinking {
 public:
  /// Shrinks `o`, which has a path and a trace.  The program is run at most `most_runs` times.
  shrinking(subject& s, run_limits const& each, exploration::outcome& o, std::size_t most_runs)
      : subject_(s), limits_(each), best_(o), runs_left_(most_runs) {
    log_.kept = &kept_;
    size_ = {o.decisions, o.preemptions, o.switches, o.trace.size(), sum(o.trace)};
  }
  shrinking(shrinking const&) = delete;
  shrinking& operator=(shrinking const&) = delete;

  void run() {
    if (runs_left_ == 0) return;
    move_while_it_helps();
    if (try_all()) move_while_it_helps();
  }

 private:
  struct size {
    std::size_t decisions, preemptions, switches, steps, sum;
    friend auto operator<=>(size const&, size const&) = default;
  };

  /// Runs a schedule.  If it ends in the same way as the best one and is smaller, it becomes the
  /// best one, and the result is true.
  bool try_smaller(strategy& c) {
    if (runs_left_ == 0) return false;
    --runs_left_;
    std::vector<schedule_step> trace;
    log_.trace = &trace;
    auto const result = subject_.run(c, log_, limits_);
    log_.trace = nullptr;
    size const now{log_.decisions, log_.preemptions, log_.switches, log_.steps, sum(trace)};
    if (result != best_.result || !(now < size_)) return false;
    size_ = now;
    best_.decisions = now.decisions;
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
  [[nodiscard]] static std::size_t sum(std::vector<schedule_step> const& trace) {
    std::size_t s = 0;
    for (auto const& step : trace)
      for (auto const& d : step.decisions) s += d.taken;
    return s;
  }
  [[nodiscard]] std::vector<decided> decisions() const {
    std::vector<decided> all;
    for (auto const& step : best_.trace)
      for (auto const& d : step.decisions) all.push_back({step.process, d.taken});
    return all;
  }
  bool tries(std::vector<turn> const& t) { return tries(t, decisions()); }
  bool tries(std::vector<turn> const& t, std::vector<decided> d) {
    taking_turns c(t, std::move(d));
    return try_smaller(c);
  }
  bool move_decisions() {
    auto const all = turns();
    auto const before = decisions();
    for (std::size_t i = 0; i != before.size(); ++i)
      for (unsigned smaller = 0; smaller != before[i].taken; ++smaller) {
        auto now = before;
        now[i].taken = smaller;
        if (tries(all, std::move(now))) return true;
      }
    return false;
  }
  /// Tries the moves of turns, until one leads to a smaller schedule (SHRINK-2).  False if none
  /// does.
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
  void move_while_it_helps() {
    while (move_decisions() || move_turns()) {
    }
  }
  /// Tries all schedules with at most as many decisions and preemptions as the best one, the fewest
  /// first (SHRINK-3).  Returns whether a smaller one was found; false if the runs were used up.
  bool try_all() {
    bool has_helped = false;
    for (std::size_t most = 0; most <= size_.decisions; ++most)
      for (std::size_t bound = 0; can_be_smaller(most, bound); ++bound) {
        every_schedule c({.most_preemptions = bound, .most_decisions = most});
        do {
          if (runs_left_ == 0) return false;
          has_helped |= try_smaller(c);
        } while (can_be_smaller(most, bound) && c.next());
        if (!c.is_pruned()) break;
      }
    return has_helped;
  }
  [[nodiscard]] bool can_be_smaller(std::size_t decisions, std::size_t preemptions) const noexcept {
    return decisions < size_.decisions ||
           (decisions == size_.decisions && preemptions <= size_.preemptions);
  }

  subject& subject_;
  run_limits const limits_;
  exploration::outcome& best_;
  size size_;
  std::size_t runs_left_;
  run_log log_;
  kept_scheduler kept_{true};
};

}  // namespace weft::detail
