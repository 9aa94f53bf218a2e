// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/testing/detail/choice_tree.hpp"
#include "weft/testing/detail/happens_before.hpp"
#include "weft/testing/detail/location_names.hpp"
#include "weft/testing/detail/sleepers.hpp"
#include "weft/testing/detail/spinning.hpp"
#include "weft/testing/detail/strategy.hpp"

/// Visits one, or few, of schedules that are alike: source sets with sleep sets (Abdulla, Aronis,
/// Jonsson, Sagonas: Optimal Dynamic Partial Order Reduction, POPL 2014; sleep sets: Godefroid,
/// 1996).  Two schedules are alike if one becomes the other when neighbouring steps that do not
/// conflict (CLOCK-1 of happens_before.hpp) change places: both end in the same way.
///
///   DPOR-1  At each choice the candidates that are wanted are tried.  At first one is wanted, or
///       all are (DPOR-11); races make others wanted (DPOR-2).
///   DPOR-2  Two steps race if only their conflict orders them: the later could have come first.
///       The steps that lead to the later one are the later one itself, and those steps between the
///       two that need not come after the earlier one.  At the choice of the earlier one, a process
///       that can make the first of these steps becomes wanted, unless such a process is wanted
///       already.
///   DPOR-3  A candidate that has been tried is asleep in the schedules that are tried after it,
///       until a step conflicts with the step that the candidate would make.  If the candidate ran
///       before that, the schedule would be like one that has been visited.  If all ready processes
///       are asleep, the run is given up.
///   DPOR-4  A step that throws conflicts with all steps: after it all other processes are unwound
///       where they are, or go on with the answers that they have.
///   DPOR-5  The accesses of a sleeper were recorded in another run, so locations are compared by
///       their names.  Locations without a name are all taken for the same.
///   DPOR-6  After a fork, the process that goes on first takes the frames that both share; the
///       other one finds them taken, and is run again.  So the first steps of both access these
///       frames, and conflict.
///   DPOR-7  After a conflicting step, the step of a sleeper may do less than it would have done
///       before: for example, it finds a lock taken, and does not reach the next lock.  Then the
///       races of the longer step are not seen.  Hence a process that was asleep when the run came
///       to a choice does not count as one that can make the first step (DPOR-2).  If there is no
///       other process, all candidates that are awake become wanted.
///   DPOR-8  Where a process that spins has to let another one go first (spinning.hpp), only that
///       choice is tried; if all processes that could go first are asleep, the run is given up.
///       After a run that was cut without such a choice, all candidates of its last choice are
///       wanted: the races of the steps behind the cut are not known.
///   DPOR-9  All ways of a decision are tried before the process that decides falls asleep.  So the
///       accesses of a sleeper are those of all ways together.
///   DPOR-10  If there is no memory for a note, the strategy cannot throw: accesses are noted in
///       destructors, too, and steps end where no exception may be thrown.  Instead it notes
///       nothing more and chooses no process: the run ends, and the search throws bad_alloc
///       (CHOICE-3 of controlled_backend.hpp).
///   DPOR-11  At the first nodes, with a `width` (choice_tree.hpp) of at most `tried_in_full`,
///       all candidates are wanted from the beginning.  So races add no candidate there, and
///       another search can visit the candidates that are left at such a node (split_search.hpp).
///       That search gets the node's sleepers.  The chosen candidate becomes one of them, with the
///       accesses of all ways of its step (DPOR-9), so no part is given away while that step has
///       ways left.  The program alone determines which nodes these are.
namespace weft::detail {

class dpor_strategy final : public strategy, public location_listener {
  using node = choice_tree::node;

 public:
  struct bounds {
    std::size_t tried_in_full = 0;  // up to this width all candidates are tried (DPOR-11)
  };

  explicit dpor_strategy(bounds b) noexcept : tree_(b.tried_in_full) {}

  std::size_t choose(candidates const& who) override try {
    if (lacks_memory_) [[unlikely]]
      return candidates::none;
    if (is_over_) rewind();
    note_step();
    note_who_is_ready(who);
    std::size_t const forced = spins_.choose(
        who, steps_.size(), [this](process_id id) { return !is_asleep(asleep_, id); });
    was_forced_ |= forced != candidates::none;
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
    if (at_ == tree_.size()) {
      tree_.add_decision(ways, steps_.size());
    } else if (tree_[at_].ways != ways) {
      differs(text_of_ways(ways));
      ++at_;
      return 0;
    }
    return tree_[at_++].choice;
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
    if (at_ != tree_.size()) differs("no process");
    if (how == run_end::cut && at_ == tree_.size() && !was_forced_) all_are_wanted_last();
    if (how == run_end::threw && !has_failed_ && steps_.size() != 0) last_conflicts_with_all();
  } catch (std::bad_alloc const&) {
    lacks_memory_ = true;
  }
  [[nodiscard]] location_listener* listener() noexcept override { return this; }
  [[nodiscard]] bool lacks_memory() const noexcept override { return lacks_memory_; }

  /// Prepares the next run.  False if there is none.
  [[nodiscard]] bool next() { return tree_.next(); }

  // ---- for several threads (split_search.hpp)

  using part = choice_tree::part;
  /// Moves to the place before the first schedule of the part; call next(), unless the part is the
  /// whole tree.
  void begin_at(part const& p) { tree_.begin_at(p); }
  /// Gives away a part of the schedules that are left (choice_tree::give()).  Called between a run
  /// and next().
  [[nodiscard]] std::optional<part> give() { return tree_.give(); }
  /// A search that reduces has no bound that excludes a choice.
  [[nodiscard]] static bool is_pruned() noexcept { return false; }
  /// Whether schedules were left out in which a process spins (DPOR-8).
  [[nodiscard]] bool leaves_spins() const noexcept { return leaves_spins_; }
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

  void note_step() {
    if (!std::exchange(is_in_step_, false)) return;
    std::size_t const i = steps_.size() - 1;
    steps_.end([&](std::size_t earlier) { add_backtrack(earlier, i); });
    if (steps_[i].node != no_node) note_what_was_done(tree_[steps_[i].node].chosen);
    std::erase_if(asleep_, [&](sleeper const& s) {
      return s.conflicts_with_all || s.id == running_ ||
             conflict(s.touches(tree_.touches()), named_);
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
    node& n = tree_[steps_.last().node];
    n.chosen.conflicts_with_all = true;
    n.all_are_wanted();
  }
  void rewind() noexcept {
    is_over_ = is_in_step_ = fails_ = has_failed_ = was_forced_ = false;
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
  /// Notes which processes the last step has made ready.  Both lists are in the order of ids
  /// (CHOICE-1).
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
    return is_asleep(asleep_, who[0]) ? candidates::none : 0;  // none: the run is given up (DPOR-3)
  }
  std::size_t one_of(candidates const& who, std::size_t forced) {
    if (at_ == tree_.size()) {
      bool const is_forced = forced != candidates::none;
      leaves_spins_ |= is_forced;
      std::size_t const first = first_awake(who, forced);
      if (first == candidates::none) return first;  // all are asleep (DPOR-3)
      tree_.add_choice(who, first, asleep_, steps_.size() + 1).is_fixed = is_forced;
    } else if (!is_as_before(who)) {
      differs(text_of_ids(who, who.size()));
      ++at_;
      return 0;
    }
    node const& n = tree_[at_++];
    asleep_ = n.asleep;
    return n.choice;
  }
  /// If a candidate is forced, that one; none if it is asleep.  Else the process that ran last, if
  /// it is awake, which keeps switches few; else the next candidate that is awake; none if all are
  /// asleep.
  [[nodiscard]] std::size_t first_awake(candidates const& who, std::size_t forced) const noexcept {
    if (forced != candidates::none)
      return is_asleep(asleep_, who[forced]) ? candidates::none : forced;
    if (who.last != candidates::none && !is_asleep(asleep_, who[who.last])) return who.last;
    std::size_t const after = who.last + 1;  // 0 if the process that ran last is no candidate
    for (std::size_t i = 0; i != who.size(); ++i)
      if (std::size_t const j = (after + i) % who.size(); !is_asleep(asleep_, who[j])) return j;
    return candidates::none;
  }
  /// Records how this run differs from an earlier one with the same choices.
  void differs(std::string const& who_is_ready) {
    if (!what_differed_.empty()) return;
    node const& n = tree_[at_];
    std::vector<process_id> ids;
    ids.reserve(n.candidates.size());
    for (auto const& c : n.candidates) ids.push_back(c.id);
    auto const before = n.ways != 0 ? text_of_ways(n.ways) : text_of_ids(ids, ids.size());
    what_differed_ = "at step " + std::to_string(n.step) + ", after the same choices, " +
                     who_is_ready + " can be chosen, and before " + before + " could";
  }
  [[nodiscard]] bool is_as_before(candidates const& who) const noexcept {
    node const& n = tree_[at_];
    return n.candidates.size() == who.size() && n.sum == who.sum;
  }

  /// The steps `earlier` and `later` race: makes a candidate wanted at the choice of the earlier
  /// one (DPOR-2).  `between_` gets the steps that lead to the later one.
  void add_backtrack(std::size_t earlier, std::size_t later) {
    if (steps_[earlier].node == no_node) return;  // there was no other candidate
    node& n = tree_[steps_[earlier].node];
    between_.clear();
    for (std::size_t i = earlier + 1; i != later; ++i)
      if (!steps_.is_before(earlier, i)) between_.push_back(i);
    between_.push_back(later);
    choice_tree::candidate* wanted = nullptr;
    for (std::size_t const i : between_) {
      if (!begins(i)) continue;
      auto const it = std::ranges::find(n.candidates, steps_.id_of(i), &choice_tree::candidate::id);
      // Leaves out a process that was no candidate, or does not count as one (DPOR-7).
      if (it == n.candidates.end() || n.has_come_asleep(it->id)) continue;
      if (it->is_wanted) return;
      if (!wanted || i == later) wanted = &*it;
    }
    if (wanted)
      wanted->is_wanted = true;
    else
      n.all_are_wanted();
  }
  /// Adds the accesses of the step that has ended to those of the chosen candidate, beside those of
  /// other ways (DPOR-9).
  void note_what_was_done(choice_tree::tried& s) {
    if (s.id != running_) s.renew(running_);
    for (auto const& t : named_) enter(s.touches, t, &named_touch::name);
  }
  void all_are_wanted_last() noexcept {
    for (std::size_t i = tree_.size(); i-- != 0;)
      if (tree_[i].ways == 0) return tree_[i].all_are_wanted();
  }
  /// Whether no step of between_ has to come before step `i`.
  [[nodiscard]] bool begins(std::size_t i) const noexcept {
    return std::ranges::none_of(between_,
                                [&](std::size_t j) { return j < i && steps_.is_before(j, i); });
  }

  happens_before steps_;
  choice_tree tree_;
  std::size_t at_ = 0;
  spin_watch spins_;
  bool leaves_spins_ = false;  // a choice of some run was forced (DPOR-8)
  bool was_forced_ = false;    // a choice of this run was forced
  std::vector<sleeper> asleep_;
  std::vector<process_id> were_ready_;
  process_id running_;
  bool is_in_step_ = false;
  bool is_over_ = false;
  bool fails_ = false;         // the current step has failed
  bool has_failed_ = false;    // a step of this run has failed
  bool lacks_memory_ = false;  // nothing more is noted (DPOR-10)
  location_names names_;
  std::vector<named_touch> named_;  // the accesses of the current step (DPOR-5)
  std::vector<std::size_t> between_;
  std::string what_differed_;
};

}  // namespace weft::detail
