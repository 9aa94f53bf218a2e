// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/sched/base/process_id.hpp"
#include "weft/testing/detail/reused.hpp"

/// The order of the steps of a run: which steps had to come before which others.
namespace weft::detail {

/// An access of a step to a location.
struct touch_of {
  void const* location;
  bool is_written;
};

/// The steps of a run, and their partial order, by vector clocks.
///
///   CLOCK-1  A step comes after the previous step of its process; after the step that made its
///       process ready; after all steps before time last passed; and after the earlier steps that
///       it conflicts with.  Two steps conflict if both access the same location and at least one
///       of them writes it.
///   CLOCK-2  For each location that a step accesses, only these conflicts are noted: with the last
///       step that wrote it, and, if the step writes, with the steps that have read it since.  All
///       other steps that access the location come before one of these, or do not conflict.
class happens_before {
 public:
  using index = std::uint32_t;

  struct step {
    index process;  // the number of its process, in the order in which processes were first seen
    index nth;      // the number of this step among those of its process, from 1
    std::size_t node;
    std::vector<index> clock;  // how many steps of each process are this one or come before it
    std::vector<touch_of> touches;
  };

  void clear() noexcept {
    steps_.clear();
    indices_.clear();
    processes_.clear();
    locations_.clear();
    location_indices_.clear();
  }

  [[nodiscard]] std::size_t size() const noexcept { return steps_.size(); }
  [[nodiscard]] step const& operator[](std::size_t i) const noexcept { return steps_[i]; }
  [[nodiscard]] step& last() noexcept { return steps_.back(); }
  [[nodiscard]] process_id id_of(std::size_t i) const noexcept {
    return processes_[steps_[i].process].id;
  }

  /// Notes that the last step has made a process ready.
  void becomes_ready(process_id id) {
    index const p = index_of(id);
    if (!steps_.empty()) join(processes_[p].clock, last().clock);
  }
  void note_time() {
    std::vector<index> all;
    for (std::size_t i = 0; i != processes_.size(); ++i) join(all, processes_[i].clock);
    for (std::size_t i = 0; i != processes_.size(); ++i) join(processes_[i].clock, all);
  }

  void begin(process_id id, std::size_t node) {
    step& s = steps_.push();
    s.touches.clear();
    s.process = index_of(id);
    s.nth = ++processes_[s.process].steps;
    s.node = node;
  }
  /// Ends the last step, when all its accesses are known.  Calls `race(i)` for each step `i` that
  /// conflicts with it and comes before it for no other reason.
  template <class Race>
  void end(Race race) {
    step& s = last();
    auto& clock = processes_[s.process].clock;
    set(clock, s.process, s.nth);
    conflicts_.clear();
    for (auto const& t : s.touches) enter(t);
    std::ranges::sort(conflicts_, std::ranges::greater());
    racing_.clear();
    for (std::size_t const i : conflicts_)
      if (!is_within(steps_[i], clock)) {
        racing_.push_back(i);
        join(clock, steps_[i].clock);
      }
    s.clock = clock;
    for (std::size_t const i : racing_) race(i);
  }
  /// Makes the last step, which has ended, conflict with all steps before it and all that follow.
  /// Calls `race(i)` for each step `i` that only its own conflict with the last step puts before
  /// the last step.
  template <class Race>
  void last_conflicts_with_all(Race race) {
    auto clock = last().clock;
    for (std::size_t i = size() - 1; i-- != 0;)
      if (!is_within(steps_[i], clock)) {
        race(i);
        join(clock, steps_[i].clock);
      }
    last().clock = clock;
    for (std::size_t i = 0; i != processes_.size(); ++i) join(processes_[i].clock, clock);
  }
  /// Whether step `i` comes before step `j`, which was later in the run.
  [[nodiscard]] bool is_before(std::size_t i, std::size_t j) const noexcept {
    return is_within(steps_[i], steps_[j].clock);
  }

 private:
  struct process {
    process_id id;
    index steps;
    std::vector<index> clock;  // the clock of the process after its last step
  };
  struct location {
    std::size_t writer;  // the last step that wrote the location; no_step if there is none yet
    std::vector<std::size_t> readers;
  };
  static constexpr std::size_t no_step = static_cast<std::size_t>(-1);

  static bool is_within(step const& s, std::vector<index> const& clock) noexcept {
    return s.process < clock.size() && clock[s.process] >= s.nth;
  }
  static void set(std::vector<index>& clock, index process, index n) {
    if (clock.size() <= process) clock.resize(process + 1);
    clock[process] = n;
  }
  static void join(std::vector<index>& into, std::vector<index> const& from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (std::size_t i = 0; i != from.size(); ++i) into[i] = std::max(into[i], from[i]);
  }
  index index_of(process_id id) {
    auto const [i, is_new] = indices_.enter(id.hash(), static_cast<index>(processes_.size()));
    if (!is_new) return i;
    index const n = i;
    process& p = processes_.push();
    p.id = id;
    p.steps = 0;
    p.clock.clear();
    return n;
  }
  location& location_at(void const* at) {
    auto const [i, is_new] = location_indices_.enter(word_of(at), locations_.size());
    if (!is_new) return locations_[i];
    location& l = locations_.push();
    l.writer = no_step;
    l.readers.clear();
    return l;
  }
  /// Notes an access of the last step, and the steps with which the access conflicts (CLOCK-2).
  void enter(touch_of const& t) {
    location& l = location_at(t.location);
    std::size_t const me = size() - 1;
    conflicts(l.writer);
    if (!t.is_written) {
      l.readers.push_back(me);
      return;
    }
    for (std::size_t const r : l.readers) conflicts(r);
    l.readers.clear();
    l.writer = me;
  }
  void conflicts(std::size_t with) {
    if (with != no_step && with != size() - 1) conflicts_.push_back(with);
  }

  reused_stack<step> steps_;
  word_table<index> indices_;  // of processes, by the hashes of their ids, which are unique
  reused_stack<process> processes_;
  word_table<std::size_t> location_indices_;
  reused_stack<location> locations_;
  std::vector<std::size_t> conflicts_;
  std::vector<std::size_t> racing_;
};

}  // namespace weft::detail
