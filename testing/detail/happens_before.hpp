// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/sched/base/process_id.hpp"

/// Which steps of a run had to come before which others.
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
    index process;  // the number of its process, in the order in which they were first seen
    index nth;      // the number of this step among those of its process, from 1
    std::size_t node;
    std::vector<index> clock;  // how many steps of each process come before this one, or are it
    std::vector<touch_of> touches;
  };

  void clear() noexcept {
    size_ = 0;
    ids_.clear();
    clocks_.clear();
    counts_.clear();
    locations_.clear();
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] step const& operator[](std::size_t i) const noexcept { return steps_[i]; }
  [[nodiscard]] step& last() noexcept { return steps_[size_ - 1]; }
  [[nodiscard]] process_id id_of(std::size_t i) const noexcept { return ids_[steps_[i].process]; }

  /// Notes that the last step has made a process ready.
  void becomes_ready(process_id id) {
    index const p = index_of(id);
    if (size_ != 0) join(clocks_[p], last().clock);
  }
  void note_time() {
    std::vector<index> all;
    for (auto const& c : clocks_) join(all, c);
    for (auto& c : clocks_) join(c, all);
  }

  void begin(process_id id, std::size_t node) {
    if (size_ == steps_.size()) steps_.emplace_back();
    step& s = steps_[size_++];
    s.process = index_of(id);
    s.nth = ++counts_[s.process];
    s.node = node;
    s.touches.clear();
  }
  /// Ends the last step, when all its accesses are known.  Calls `race(i)` for each step `i` that
  /// conflicts with it and comes before it for no other reason.
  template <class Race>
  void end(Race race) {
    step& s = last();
    auto& clock = clocks_[s.process];
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
  /// Makes the last step, which has ended, conflict with all steps before and after it.  Calls
  /// `race(i)` for each step `i` that did not come before it for another reason.
  template <class Race>
  void last_conflicts_with_all(Race race) {
    auto clock = last().clock;
    for (std::size_t i = size_ - 1; i-- != 0;)
      if (!is_within(steps_[i], clock)) {
        race(i);
        join(clock, steps_[i].clock);
      }
    last().clock = clock;
    for (auto& c : clocks_) join(c, clock);
  }
  /// Whether step `i` comes before step `j`, which was later in the run.
  [[nodiscard]] bool is_before(std::size_t i, std::size_t j) const noexcept {
    return is_within(steps_[i], steps_[j].clock);
  }

 private:
  struct location {
    void const* at;
    std::size_t writer;  // no_step if there is none yet
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
    auto const it = std::ranges::find(ids_, id);
    if (it != ids_.end()) return static_cast<index>(it - ids_.begin());
    ids_.push_back(id);
    clocks_.emplace_back();
    counts_.push_back(0);
    return static_cast<index>(ids_.size() - 1);
  }
  /// Notes an access of the last step, and the steps that it conflicts with by that (CLOCK-2).
  void enter(touch_of const& t) {
    auto it = std::ranges::find(locations_, t.location, &location::at);
    if (it == locations_.end()) it = locations_.insert(it, {t.location, no_step, {}});
    std::size_t const me = size_ - 1;
    conflicts(it->writer);
    if (!t.is_written) {
      it->readers.push_back(me);
      return;
    }
    for (std::size_t const r : it->readers) conflicts(r);
    it->readers.clear();
    it->writer = me;
  }
  void conflicts(std::size_t with) {
    if (with != no_step && with != size_ - 1) conflicts_.push_back(with);
  }

  std::vector<step> steps_;  // kept from run to run: the first size_ belong to this run
  std::size_t size_ = 0;
  std::vector<process_id> ids_;
  std::vector<std::vector<index>> clocks_;  // of each process, after its last step
  std::vector<index> counts_;
  std::vector<location> locations_;
  std::vector<std::size_t> conflicts_;
  std::vector<std::size_t> racing_;
};

}  // namespace weft::detail
