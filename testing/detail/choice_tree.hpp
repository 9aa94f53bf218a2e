// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "weft/sched/base/process_id.hpp"
#include "weft/testing/detail/reused.hpp"
#include "weft/testing/detail/sleepers.hpp"
#include "weft/testing/detail/strategy.hpp"

/// The choices of a search that reduces (explore_options::reduce), kept from run to run: which
/// candidates are wanted, tried and asleep.  The invariants DPOR-n are in dpor_strategy.hpp.
namespace weft::detail {

class choice_tree {
 public:
  struct candidate {
    process_id id;
    bool is_wanted;
  };
  /// The chosen candidate, and its accesses.
  struct tried {
    process_id id;
    std::vector<named_touch> touches;
    bool conflicts_with_all;

    void renew(process_id now) noexcept {
      id = now;
      touches.clear();
      conflicts_with_all = false;
    }
  };
  struct node {  // a choice of a candidate, or a decision
    std::vector<candidate> candidates;
    std::uint64_t sum;  // candidates::sum
    std::size_t choice;
    std::vector<sleeper> asleep;
    // How many entries of `asleep`, from its beginning, were asleep when the run came here.  The
    // others are candidates that have been tried here.
    std::size_t came_asleep;
    // How many entries of the tree's touches belong to this node, and to those before it.
    std::size_t touches_end;
    tried chosen;
    std::size_t step;
    std::size_t ways;  // how many ways the decision has; 0 for a choice of a candidate
    // The product of the numbers of candidates, or ways, of this node and those before it.  Behind
    // the first node that is not tried in full, it no longer grows.
    std::size_t width;
    bool is_fixed;  // only the chosen candidate is tried here (DPOR-8, DPOR-11)

    void all_are_wanted() noexcept {
      for (auto& c : candidates) c.is_wanted = true;
    }
    [[nodiscard]] bool has_come_asleep(process_id id) const noexcept {
      auto const end = asleep.begin() + static_cast<std::ptrdiff_t>(came_asleep);
      return std::find_if(asleep.begin(), end, [id](auto const& s) { return s.id == id; }) != end;
    }
    /// The first candidate, in the order of ids, that is wanted, awake and not chosen; the number
    /// of candidates if there is none.
    [[nodiscard]] std::size_t next() const noexcept {
      std::size_t i = 0;
      while (i != candidates.size() &&
             (i == choice || !candidates[i].is_wanted || is_asleep(asleep, candidates[i].id)))
        ++i;
      return i;
    }
    [[nodiscard]] bool has_more_ways() const noexcept { return choice + 1 < ways; }
  };
  /// A part of the tree: the schedules that make the choices of `nodes`, a path from the root, but
  /// at the last node a later choice than that node has.  Without nodes: all schedules.
  struct part {
    std::vector<node> nodes;
    std::vector<named_touch> touches;
  };

  /// `tried_in_full`: the greatest width of a node at which all candidates are tried (DPOR-11).
  explicit choice_tree(std::size_t tried_in_full) noexcept : tried_in_full_(tried_in_full) {}

  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
  [[nodiscard]] node& operator[](std::size_t i) noexcept { return nodes_[i]; }
  [[nodiscard]] node const& operator[](std::size_t i) const noexcept { return nodes_[i]; }
  /// The accesses of the sleepers of all nodes: of the processes that need not be tried for now
  /// (sleepers.hpp).
  [[nodiscard]] std::vector<named_touch> const& touches() const noexcept { return touches_; }

  void add_decision(std::size_t ways, std::size_t step) { add(step, ways).ways = ways; }
  node& add_choice(candidates const& who, std::size_t choice, std::vector<sleeper> const& asleep,
                   std::size_t step) {
    node& n = add(step, who.size());
    n.sum = who.sum;
    for (std::size_t i = 0; i != who.size(); ++i)
      n.candidates.push_back({who[i], is_in_full(n) || i == choice});
    n.choice = choice;
    n.asleep = asleep;
    n.came_asleep = asleep.size();
    return n;
  }
  /// Moves to the next schedule.  False if there is none.
  [[nodiscard]] bool next() {
    for (; !nodes_.empty(); nodes_.pop()) {
      node& n = nodes_.back();
      if (n.is_fixed) continue;
      if (n.ways != 0) {
        if (++n.choice != n.ways) return true;
        continue;
      }
      puts_to_sleep(n);
      n.choice = n.next();
      if (n.choice != n.candidates.size()) return true;
    }
    return false;
  }
  void begin_at(part const& p) {
    for (node const& n : p.nodes) nodes_.push() = n;
    touches_ = p.touches;
  }
  /// Gives away the last schedules that are left, those at the node nearest to the root that has
  /// choices left (SPLIT-4 of split_search.hpp).  Nothing if there is no such node; if it is not
  /// tried in full (DPOR-11); or if it is a decision, or a decision right behind it has ways left
  /// (DPOR-9).
  [[nodiscard]] std::optional<part> give() {
    for (std::size_t i = 0; i != size() && is_in_full(nodes_[i]); ++i) {
      node& n = nodes_[i];
      if (n.is_fixed) continue;
      if (n.has_more_ways()) return std::nullopt;
      if (n.ways != 0 || n.next() == n.candidates.size()) continue;
      for (std::size_t j = i + 1; j != size() && nodes_[j].ways != 0; ++j)
        if (nodes_[j].has_more_ways()) return std::nullopt;
      part given{{&nodes_[0], &n + 1},
                 {touches_.begin(), touches_.begin() + static_cast<std::ptrdiff_t>(n.touches_end)}};
      for (std::size_t j = 0; j != i; ++j) given.nodes[j].is_fixed = true;
      n.is_fixed = true;
      return given;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool is_in_full(node const& n) const noexcept { return n.width <= tried_in_full_; }
  node& add(std::size_t step, std::size_t candidates_or_ways) {
    std::size_t touches_end = 0;
    std::size_t width = candidates_or_ways;
    if (!nodes_.empty()) {
      touches_end = nodes_.back().touches_end;
      if (!is_in_full(nodes_.back()))
        width = 1;  // a larger product is not needed, and might overflow
      width *= nodes_.back().width;
    }
    node& n = nodes_.push();
    n.candidates.clear();
    n.asleep.clear();
    n.sum = n.choice = n.came_asleep = n.ways = 0;
    n.is_fixed = false;
    n.step = step;
    n.width = width;
    n.touches_end = touches_end;
    n.chosen.renew({});
    return n;
  }
  /// Adds the chosen candidate of the last node, which has been tried, to the sleepers (DPOR-3).
  void puts_to_sleep(node& n) {
    tried& t = n.chosen;
    touches_.resize(n.touches_end);
    n.asleep.push_back({t.id, static_cast<std::uint32_t>(n.touches_end),
                        static_cast<std::uint32_t>(t.touches.size()), t.conflicts_with_all});
    touches_.insert(touches_.end(), t.touches.begin(), t.touches.end());
    n.touches_end = touches_.size();
    t.renew({});
  }

  std::size_t const tried_in_full_;
  reused_stack<node> nodes_;
  std::vector<named_touch> touches_;
};

}  // namespace weft::detail
