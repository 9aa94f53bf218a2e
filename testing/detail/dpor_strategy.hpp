// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/testing/detail/every_schedule.hpp"
#include "weft/testing/detail/happens_before.hpp"
#include "weft/testing/detail/location_names.hpp"
#include "weft/testing/detail/reused.hpp"
#include "weft/testing/detail/sleepers.hpp"
#include "weft/testing/detail/spinning.hpp"
#include "weft/testing/detail/strategy.hpp"

/// Of schedules that are alike, visits one, or few: source sets with sleep sets (Abdulla, Aronis,
/// Jonsson, Sagonas: Optimal Dynamic Partial Order Reduction, POPL 2014; sleep sets: Godefroid,
/// 1996).  Two schedules are alike if one becomes the other when neighbouring steps that do not
/// conflict (CLOCK-1) change places: both end in the same way.
///
///   DPOR-1  At each choice the candidates that are wanted are tried.  One is wanted to begin with;
///       races make others wanted (DPOR-2).
///   DPOR-2  If two steps race, the later one could have come first.  The steps that lead to the
///       later one are the later one itself, and those of the steps between the two that need not
///       come after the earlier one.  At the choice of the earlier one, a process becomes wanted
///       whose step can be the first of them, unless such a process is wanted already.
///   DPOR-3  A candidate that has been tried is asleep in the schedules that are tried after it,
///       until a step conflicts with the step that the candidate would make.  To run it before that
///       would lead to schedules that have been seen.  If all ready processes are asleep, the run
///       is given up.
///   DPOR-4  A step that throws conflicts with all steps: after it all other processes are unwound
///       where they are, or go on with the answers that they have.
///   DPOR-5  The accesses of a sleeper were recorded in another run, so locations are compared by
///       their names.  Locations without a name are all taken for the same.
///   DPOR-6  After a fork, the process that goes on first takes the frames that both share; the
///       other one finds them taken, and is run again.  So the first steps of both access these
///       frames, and conflict.
///   DPOR-7  After a step that conflicts with it, the step of a sleeper may do less than it would
///       have done before: it finds a lock taken, say, and does not reach the next lock.  So the
///       races that it would have had are not seen.  Hence a process that was asleep when the run
///       came to a choice does not count as one whose step can be first (DPOR-2).  If there is no
///       other, all candidates that are awake become wanted.
///   DPOR-8  Where a process that spins has to let another one go first (spinning.hpp), nothing else
///       is tried; if the others are asleep, the run is given up.  After a run that was cut without
///       that, all candidates of its last choice are wanted: races of later steps are not known.
///   DPOR-9  All ways of a decision are tried before the process that decides falls asleep.  So the
///       accesses of a sleeper are those of all ways together.
///   DPOR-10  Accesses are noted in destructors, too, and steps end where no exception may be
///       thrown.  If there is no memory for a note, the strategy notes nothing more and chooses no
///       process: the run ends, and the search throws bad_alloc (CHOICE-3 of
///       controlled_backend.hpp).
namespace weft::detail {

class dpor_strategy final : public strategy, public location_listener {
 public:
  std::size_t choose(candidates const& who) override try {
    if (lacks_memory_) [[unlikely]]
      return candidates::none;
    if (is_over_) rewind();
    note_step();
    note_who_is_ready(who);
    std::size_t const forced = spins_.choose(
        who, steps_.size(), [this](process_id id) { return !is_asleep(asleep_, id); });
    std::size_t const choice = who.size() == 1 ? only(who) : one_of(who, forced);
    if (choice == candidates::none) return choice;
    spins_.note(who, steps_.size(), choice);
    steps_.begin(who[choice], who.size() == 1 ? no_node : at_ - 1);
    is_in_step_ = true;
    running_ = who[choice];
    named_.clear();
    return choice;
  } catch (std::bad_alloc const&) {
    lacks_memory_ = true;
    return candidates::none;
  }
  std::size_t decide(std::size_t ways) override try {  // tries all ways (DPOR-9)
    if (lacks_memory_) return 0;
    if (at_ == nodes_.size()) {
      node& n = push_node();
      n.ways = ways;
      n.step = steps_.size();
    } else if (nodes_[at_].ways != ways) {
      differs(text_of_ways(ways));
      ++at_;
      return 0;
    }
    return nodes_[at_++].choice;
  } catch (std::bad_alloc const&) {
    lacks_memory_ = true;
    return 0;
  }
  void step_ends() override try {
    if (!lacks_memory_) note_step();
  } catch (std::bad_alloc const&) {
    lacks_memory_ = true;
  }
  void on_run_end(run_end how) override try {
    if (lacks_memory_) return;
    if (is_over_) rewind();  // no step was run
    note_step();
    is_over_ = true;
    if (at_ != nodes_.size()) differs("no process");
    if (how == run_end::cut && at_ == nodes_.size() && !is_fair_) all_are_wanted_last();
    if (how == run_end::threw && !has_failed_ && steps_.size() != 0) last_conflicts_with_all();
  } catch (std::bad_alloc const&) {
    lacks_memory_ = true;
  }
  [[nodiscard]] location_listener* listener() noexcept override { return this; }
  [[nodiscard]] bool lacks_memory() const noexcept override { return lacks_memory_; }

  /// Prepares the next run.  False if there is none.
  [[nodiscard]] bool next() {
    for (; !nodes_.empty(); nodes_.pop()) {
      node& n = nodes_.back();
      if (n.ways != 0) {
        if (++n.choice != n.ways) return true;
        continue;
      }
      if (n.is_forced) continue;
      puts_to_sleep(n);
      for (std::size_t i = 0; i != n.candidates.size(); ++i)
        if (n.candidates[i].is_wanted && !is_asleep(n.asleep, n.candidates[i].id)) {
          n.choice = i;
          return true;
        }
    }
    return false;
  }
  /// Whether schedules were left out in which a process spins (DPOR-8).
  [[nodiscard]] bool is_fair() const noexcept { return is_fair_; }
  [[nodiscard]] std::string const& what_differed() const noexcept { return what_differed_; }

  // ---- location_listener

  void note_created(void const* location) noexcept override try {
    if (lacks_memory_) return;
    if (is_over_) rewind();
    names_.note_created(location, who_runs());
  } catch (std::bad_alloc const&) {
    lacks_memory_ = true;
  }
  void note_destroyed(void const* location) noexcept override { names_.note_destroyed(location); }
  void note_access(void const* location, bool is_written) noexcept override try {
    if (!is_in_step_) return;
    enter(steps_.last().touches, {location, is_written}, &touch_of::location);
    enter(named_, {names_.of(location), is_written}, &named_touch::name);
  } catch (std::bad_alloc const&) {
    lacks_memory_ = true;
  }
  void note_time() noexcept override try {
    if (!lacks_memory_) steps_.note_time();
  } catch (std::bad_alloc const&) {
    lacks_memory_ = true;
  }
  void note_all_cancelled() noexcept override try {
    if (lacks_memory_) return;
    has_failed_ = true;
    if (is_in_step_)
      fails_ = true;
    else
      steps_.note_time();
  } catch (std::bad_alloc const&) {
    lacks_memory_ = true;
  }
  void note_fork(process_id from, process_id clone, void const* shared) noexcept override try {
    if (!lacks_memory_) names_.note_fork(from, clone, shared);
  } catch (std::bad_alloc const&) {
    lacks_memory_ = true;
  }
  void note_rerun() noexcept override try {
    if (!lacks_memory_) names_.note_rerun(who_runs());
  } catch (std::bad_alloc const&) {
    lacks_memory_ = true;
  }

 private:
  static constexpr std::size_t no_node = static_cast<std::size_t>(-1);

  struct candidate {
    process_id id;
    bool is_wanted;
  };
  /// The chosen candidate, and its accesses.
  struct tried {
    process_id id;
    std::vector<named_touch> touches;
    bool conflicts_with_all;
  };
  struct node {  // a choice of a candidate, or a decision
    std::vector<candidate> candidates;
    std::uint64_t sum;  // candidates::sum
    std::size_t choice;
    std::vector<sleeper> asleep;
    // How many entries of `asleep`, from its beginning, were asleep when the run came here.  The
    // others are candidates that have been tried here.
    std::size_t came_asleep;
    // How many entries of `touches_` belong to this node, and to those before it.
    std::size_t touches_end;
    tried chosen;
    std::size_t step;
    std::size_t ways;  // how many ways the decision has; 0 for a choice of a candidate
    bool is_forced;    // only the chosen candidate is tried (DPOR-8)
  };
  node& push_node() {
    std::size_t const touches_end = nodes_.empty() ? 0 : nodes_.back().touches_end;
    node& n = nodes_.push();
    n.candidates.clear();
    n.asleep.clear();
    n.sum = n.choice = n.came_asleep = n.step = n.ways = 0;
    n.touches_end = touches_end;
    forget(n.chosen, {});
    return n;
  }
  static void forget(tried& t, process_id id) noexcept {
    t.id = id;
    t.touches.clear();
    t.conflicts_with_all = false;
  }
  /// The chosen candidate of the last node has been tried (DPOR-3).
  void puts_to_sleep(node& n) {
    tried& t = n.chosen;
    touches_.resize(n.touches_end);
    n.asleep.push_back({t.id, static_cast<std::uint32_t>(n.touches_end),
                        static_cast<std::uint32_t>(t.touches.size()), t.conflicts_with_all});
    touches_.insert(touches_.end(), t.touches.begin(), t.touches.end());
    n.touches_end = touches_.size();
    forget(t, {});
  }
  void note_step() {
    if (!std::exchange(is_in_step_, false)) return;
    std::size_t const i = steps_.size() - 1;
    steps_.end([&](std::size_t earlier) { add_backtrack(earlier, i); });
    if (steps_[i].node != no_node) note_what_was_done(nodes_[steps_[i].node].chosen);
    std::erase_if(asleep_, [&](sleeper const& s) {
      return s.conflicts_with_all || s.id == running_ || conflict(s.touches(touches_), named_);
    });
    if (!std::exchange(fails_, false)) return;
    last_conflicts_with_all();
    asleep_.clear();
  }
  /// Makes the last step, which has failed, conflict with all other steps (DPOR-4).
  void last_conflicts_with_all() {
    std::size_t const last = steps_.size() - 1;
    steps_.last_conflicts_with_all([&](std::size_t earlier) { add_backtrack(earlier, last); });
    if (steps_.last().node == no_node) return;
    node& n = nodes_[steps_.last().node];
    n.chosen.conflicts_with_all = true;
    all_are_wanted(n);
  }
  void rewind() noexcept {
    is_over_ = is_in_step_ = fails_ = has_failed_ = false;
    at_ = 0;
    spins_.clear();
    steps_.clear();
    asleep_.clear();
    were_ready_.clear();
    names_.clear();
  }
  [[nodiscard]] location_names::maker who_runs() const noexcept {
    return is_in_step_ ? running_.hash() : location_names::outside;
  }
  /// Both lists are in the order of ids (CHOICE-1).
  void note_who_is_ready(candidates const& who) {
    std::size_t before = 0;
    for (std::size_t i = 0; i != who.size(); ++i) {
      process_id const id = who[i];
      while (before != were_ready_.size() && were_ready_[before] < id) ++before;
      bool const was_ready = before != were_ready_.size() && were_ready_[before] == id;
      if (!was_ready && !(steps_.size() != 0 && id == running_)) steps_.becomes_ready(id);
    }
    were_ready_.clear();
    for (std::size_t i = 0; i != who.size(); ++i) were_ready_.push_back(who[i]);
  }

  [[nodiscard]] std::size_t only(candidates const& who) const noexcept {
    return is_asleep(asleep_, who[0]) ? candidates::none : 0;  // DPOR-3: gives up if all are asleep
  }
  std::size_t one_of(candidates const& who, std::size_t forced) {
    if (at_ == nodes_.size()) {
      bool const is_forced = forced != candidates::none;
      is_fair_ |= is_forced;
      std::size_t const first = first_awake(who, forced);
      if (first == candidates::none) return first;  // DPOR-3: all are asleep
      begin(who, first);
      nodes_.back().is_forced = is_forced;
    } else if (!is_as_before(who)) {
      differs(text_of_ids(who, who.size()));
      ++at_;
      return 0;
    }
    node const& n = nodes_[at_++];
    asleep_ = n.asleep;
    return n.choice;
  }
  /// The process that ran last, if it is awake: this keeps switches few.  Else the next one that is.
  [[nodiscard]] std::size_t first_awake(candidates const& who, std::size_t forced) const noexcept {
    if (forced != candidates::none)
      return is_asleep(asleep_, who[forced]) ? candidates::none : forced;
    if (who.last != candidates::none && !is_asleep(asleep_, who[who.last])) return who.last;
    std::size_t const after = who.last + 1;  // 0 if the process that ran last is no candidate
    for (std::size_t i = 0; i != who.size(); ++i)
      if (std::size_t const j = (after + i) % who.size(); !is_asleep(asleep_, who[j])) return j;
    return candidates::none;
  }
  void begin(candidates const& who, std::size_t choice) {
    node& n = push_node();
    n.sum = who.sum;
    for (std::size_t i = 0; i != who.size(); ++i) n.candidates.push_back({who[i], i == choice});
    n.choice = choice;
    n.step = steps_.size() + 1;
    n.asleep = asleep_;
    n.came_asleep = asleep_.size();
  }
  /// Records how this run differs from an earlier one with the same choices.
  void differs(std::string const& who_is_ready) {
    if (!what_differed_.empty()) return;
    node const& n = nodes_[at_];
    std::vector<process_id> ids;
    ids.reserve(n.candidates.size());
    for (auto const& c : n.candidates) ids.push_back(c.id);
    auto const before = n.ways != 0 ? text_of_ways(n.ways) : text_of_ids(ids, ids.size());
    what_differed_ = "at step " + std::to_string(n.step) + ", after the same choices, " +
                     who_is_ready + " can be chosen, and before " + before + " could";
  }
  [[nodiscard]] bool is_as_before(candidates const& who) const noexcept {
    node const& n = nodes_[at_];
    return n.candidates.size() == who.size() && n.sum == who.sum;
  }

  /// The steps `earlier` and `later` race: makes a candidate wanted at the choice of the earlier
  /// one (DPOR-2).  `between_` gets the steps that lead to the later one.
  void add_backtrack(std::size_t earlier, std::size_t later) {
    if (steps_[earlier].node == no_node) return;  // there was no other candidate
    node& n = nodes_[steps_[earlier].node];
    between_.clear();
    for (std::size_t i = earlier + 1; i != later; ++i)
      if (!steps_.is_before(earlier, i)) between_.push_back(i);
    between_.push_back(later);
    candidate* wanted = nullptr;
    for (std::size_t const i : between_) {
      if (!begins(i)) continue;
      auto const it = std::ranges::find(n.candidates, steps_.id_of(i), &candidate::id);
      if (it == n.candidates.end() || came_asleep(n, it->id)) continue;  // DPOR-7: was asleep
      if (it->is_wanted) return;
      if (!wanted || i == later) wanted = &*it;
    }
    if (wanted)
      wanted->is_wanted = true;
    else
      all_are_wanted(n);
  }
  /// Adds the accesses of the step that has ended to those of the chosen candidate, beside those of
  /// other ways (DPOR-9).
  void note_what_was_done(tried& s) {
    if (s.id != running_) forget(s, running_);
    for (auto const& t : named_) enter(s.touches, t, &named_touch::name);
  }
  void all_are_wanted_last() noexcept {
    for (std::size_t i = nodes_.size(); i-- != 0;)
      if (nodes_[i].ways == 0) return all_are_wanted(nodes_[i]);
  }
  static void all_are_wanted(node& n) noexcept {
    for (auto& c : n.candidates) c.is_wanted = true;
  }
  static bool came_asleep(node const& n, process_id id) noexcept {
    auto const end = n.asleep.begin() + static_cast<std::ptrdiff_t>(n.came_asleep);
    return std::find_if(n.asleep.begin(), end, [id](auto const& s) { return s.id == id; }) != end;
  }
  /// Whether no step of between_ has to come before step `i`.
  [[nodiscard]] bool begins(std::size_t i) const noexcept {
    return std::ranges::none_of(between_,
                                [&](std::size_t j) { return j < i && steps_.is_before(j, i); });
  }

  happens_before steps_;
  reused_stack<node> nodes_;
  std::size_t at_ = 0;
  spin_watch spins_;
  bool is_fair_ = false;
  std::vector<sleeper> asleep_;
  std::vector<named_touch> touches_;  // of the sleepers of all nodes
  std::vector<process_id> were_ready_;
  process_id running_;
  bool is_in_step_ = false;
  bool is_over_ = false;
  bool fails_ = false;         // the current step has failed
  bool has_failed_ = false;    // a step of this run has failed
  bool lacks_memory_ = false;  // DPOR-10: then nothing more is noted or chosen
  location_names names_;
  std::vector<named_touch> named_;  // the accesses of the current step (DPOR-5)
  std::vector<std::size_t> between_;
  std::string what_differed_;
};

}  // namespace weft::detail
