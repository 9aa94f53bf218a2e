// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "weft/sched/base/process_id.hpp"
#include "weft/testing/detail/spinning.hpp"
#include "weft/testing/detail/strategy.hpp"
#include "weft/testing/path.hpp"

/// Strategies that visit all schedules in turn, or one that is recorded.
namespace weft::detail {

/// Makes the choices of a path; after its end, takes the first candidate, and way 0 of each
/// decision.
class replay_strategy : public strategy {
 public:
  /// The path must outlive this object.
  explicit replay_strategy(schedule_path const& p) : path_(p) {}

  std::size_t choose(candidates const& who) override {
    ++steps_;
    if (who.size() == 1) return 0;  // CHOICE-2: one candidate is no choice
    if (at_ == path_.length()) {
      if (misfit_.empty())
        misfit_ = "the path ends after " + std::to_string(at_) + " choices, and at step " +
                  std::to_string(steps_) + " the processes " + text_of_ids(who, who.size()) +
                  " are ready";
      return 0;
    }
    unsigned const choice = path_[at_];
    auto const process = path_.process(at_++);
    bool const fits =
        choice < who.size() && (!path_.names_processes() || (process && who[choice] == *process));
    if (!fits && misfit_.empty())
      misfit_ = "choice " + std::to_string(at_) + " of the path, at step " +
                std::to_string(steps_) + ", is " + text_of_choice(choice, process) + ", and " +
                std::to_string(who.size()) +
                " are ready, counted from 0: " + text_of_ids(who, who.size());
    return std::min<std::size_t>(choice, who.size() - 1);
  }
  std::size_t decide(std::size_t ways) override {
    std::string const here = ", in step " + std::to_string(steps_) + ", ";
    if (at_ == path_.length()) {
      if (misfit_.empty())
        misfit_ = "the path ends after " + std::to_string(at_) + " choices, and" + here.substr(1) +
                  text_of_ways(ways) + " is to be chosen";
      return 0;
    }
    unsigned const choice = path_[at_];
    auto const process = path_.process(at_++);
    if (misfit_.empty() && (process || choice >= ways)) {
      misfit_ = "choice " + std::to_string(at_) + " of the path" + here + "is ";
      misfit_ += process ? text_of_choice(choice, process) + ", and " + text_of_ways(ways) +
                               " is to be chosen"
                         : "way " + std::to_string(choice) + ", and there are " +
                               std::to_string(ways) + ", counted from 0";
    }
    return std::min<std::size_t>(choice, ways - 1);
  }
  void on_run_end(run_end) override {
    if (misfit_.empty() && at_ != path_.length())
      misfit_ = "the path has " + std::to_string(path_.length()) +
                " choices, and the program was over after " + std::to_string(at_) + ", in " +
                std::to_string(steps_) + " steps";
  }
  /// Why the path is not one of this program; empty if it is.
  [[nodiscard]] std::string const& misfit() const noexcept { return misfit_; }

 protected:
  [[nodiscard]] std::size_t steps() const noexcept { return steps_; }

 private:
  [[nodiscard]] std::string text_of_choice(unsigned choice,
                                           std::optional<process_id> const& process) const {
    if (process) return "process " + process->text() + ", candidate " + std::to_string(choice);
    return (path_.names_processes() ? "decision " : "candidate ") + std::to_string(choice);
  }

  schedule_path const& path_;
  std::size_t at_ = 0;
  std::size_t steps_ = 0;
  std::string misfit_;
};

/// Visits all schedules within the bounds, depth first, choice 0 before 1.
class every_schedule final : public strategy {
 public:
  static constexpr std::size_t no_bound = std::numeric_limits<std::size_t>::max();
  struct bounds {
    std::size_t most_preemptions = no_bound;
    std::size_t least_preemptions = 0;  // runs with fewer do not count: they were visited before
    std::size_t most_decisions = no_bound;  // the most decisions that are not 0
  };

  explicit every_schedule(bounds const& b) : bounds_(b) {
    taken_.reserve(7);  // enough for a short run
  }

  std::size_t choose(candidates const& who) override {
    ++steps_;
    std::size_t const forced = spins_.choose(who, steps_);
    // A single candidate is no choice (CHOICE-2).
    std::size_t const next = who.size() == 1 ? 0 : choose(who, forced);
    spins_.note(who, steps_, next);
    return next;
  }
  std::size_t decide(std::size_t ways) override {
    if (at_ == taken_.size())
      taken_.push_back({.of = static_cast<unsigned>(ways),
                        .end = static_cast<unsigned>(ways),
                        .spent = spent_,
                        .decided = decided_,
                        .step = steps_});
    else if (!taken_[at_].is_decision || taken_[at_].of != ways) [[unlikely]]
      differs(text_of_ways(ways), steps_);
    node const& n = taken_[at_++];
    decided_ += n.choice != 0;
    return std::min<std::size_t>(n.choice, ways - 1);
  }
  void on_run_end(run_end) override {
    if (at_ != taken_.size()) differs("no process", taken_[at_].step);
  }
  [[nodiscard]] bool counts() const noexcept override {
    return spent_ >= bounds_.least_preemptions;
  }

  /// Prepares the next schedule.  False if there is none.
  [[nodiscard]] bool next() {
    at_ = steps_ = 0;
    spent_ = decided_ = 0;
    spins_.clear();
    for (; !taken_.empty(); taken_.pop_back()) {
      node& n = taken_.back();
      if (n.is_decision) {
        if (++n.choice != n.end && n.decided < bounds_.most_decisions) return true;
        continue;
      }
      while (++n.choice != n.end) {
        if (n.spent + preempts(n, n.choice) <= bounds_.most_preemptions) return true;
        is_pruned_ = true;
      }
    }
    return false;
  }

  // ---- for several threads (split_search.hpp)

  struct node;
  /// A part of the tree of schedules: those that make the choices of `nodes`, a path from the root,
  /// but at the last node a later choice than that node has.  Without nodes: all schedules.
  struct part {
    std::vector<node> nodes;
  };
  /// Moves to the place before the first schedule of the part; call next(), unless the part is the
  /// whole tree.
  void begin_at(part const& p) { taken_ = p.nodes; }
  /// Gives away the last schedules that are left, those at the node nearest to the root that has
  /// choices left (SPLIT-4 of split_search.hpp).  Nothing if there is no such node.  Called between
  /// a run and next().
  [[nodiscard]] std::optional<part> give() {
    auto const has_more = [](node const& n) { return n.choice + 1 < n.end; };
    auto const n = std::ranges::find_if(taken_, has_more);
    if (n == taken_.end()) return std::nullopt;
    part given{{taken_.begin(), n + 1}};
    n->end = n->choice + 1;
    for (std::size_t i = 0; i + 1 < given.nodes.size(); ++i)
      given.nodes[i].end = given.nodes[i].choice + 1;
    return given;
  }

  /// Whether the bound on preemptions has excluded a choice.
  [[nodiscard]] bool is_pruned() const noexcept { return is_pruned_; }
  /// Whether schedules were left out in which a process spins (spinning.hpp).
  [[nodiscard]] bool leaves_spins() const noexcept { return leaves_spins_; }
  /// How a run differed from an earlier one with the same choices; empty if none did.
  [[nodiscard]] std::string const& what_differed() const noexcept { return what_differed_; }

  struct node {
    unsigned choice = 0;
    unsigned of;
    unsigned end;  // the first choice that belongs to another part; `of` if none does
    bool is_decision = true;
    std::size_t last = candidates::none;  // candidates::last
    std::size_t spent;                    // preemptions before this node
    std::size_t decided;                  // decisions before this node that are not 0
    std::size_t step;
    std::uint64_t sum = 0;      // candidates::sum
    candidates::names names{};  // of the candidates, if they are few (CHOICE-4)
  };

 private:
  [[nodiscard]] static bool preempts(node const& n, std::size_t choice) noexcept {
    return n.last != candidates::none && n.last != choice;
  }
  /// `forced`: the candidate that has to run, since another one spins; else none.
  [[gnu::always_inline]] std::size_t choose(candidates const& who, std::size_t forced) {
    if (at_ == taken_.size()) [[unlikely]]
      begin(who, forced);
    else if (!is_as_before(who)) [[unlikely]]
      differs(text_of_ids(who, who.size()), steps_);
    node const& n = taken_[at_++];
    spent_ += preempts(n, n.choice);
    return n.choice < who.size() ? n.choice : who.size() - 1;
  }
  [[gnu::noinline]] void begin(candidates const& who, std::size_t forced) {
    auto const of = static_cast<unsigned>(who.size());
    node& n = taken_.emplace_back(node{.of = of,
                                       .end = of,
                                       .is_decision = false,
                                       .last = who.last,
                                       .spent = spent_,
                                       .decided = decided_,
                                       .step = steps_,
                                       .sum = who.sum});
    who.note_names(n.names);
    if (forced != candidates::none) [[unlikely]] {
      n.choice = static_cast<unsigned>(forced);
      n.end = n.choice + 1;
      n.last = candidates::none;  // so the forced switch does not count as a preemption
      leaves_spins_ = true;
      return;
    }
    if (spent_ == bounds_.most_preemptions && who.last != candidates::none && who.last != 0) {
      n.choice = static_cast<unsigned>(who.last);
      is_pruned_ = true;
    }
  }
  [[nodiscard]] bool is_as_before(candidates const& who) const noexcept {
    node const& n = taken_[at_];
    return n.sum == who.sum && n.of == who.size() && !n.is_decision;
  }
  [[nodiscard]] std::string text_before(node const& n) const {
    if (n.is_decision) return text_of_ways(n.of);
    return n.of > candidates::most_named ? text_of_many(n.of) : text_of_ids(n.names, n.of);
  }
  void differs(std::string const& who, std::size_t step) {
    if (!what_differed_.empty()) return;
    what_differed_ = "at step " + std::to_string(step) + ", after the same choices, " + who +
                     " can be chosen, and before " + text_before(taken_[at_]) + " could";
  }

  bounds const bounds_;
  std::vector<node> taken_;
  std::size_t at_ = 0;
  std::size_t steps_ = 0;
  std::size_t spent_ = 0;  // preemptions so far; a forced switch is none
  std::size_t decided_ = 0;
  bool is_pruned_ = false;
  bool leaves_spins_ = false;
  spin_watch spins_;
  std::string what_differed_;
};

}  // namespace weft::detail
