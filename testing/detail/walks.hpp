// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "weft/sched/backends/detail/portable_rng.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/testing/detail/reused.hpp"
#include "weft/testing/detail/spinning.hpp"
#include "weft/testing/detail/strategy.hpp"

/// Strategies that choose at random.
///
///   WALK-1  All random numbers of one thread come from one generator.  So with the same seed the
///       thread makes the same runs, also where the results of earlier runs have an influence.
namespace weft::detail {

/// The state that several walks of one program share.
class walkers_map {
 public:
  struct place {
    std::size_t steps;       // steps of the process in this run so far
    std::size_t most;        // the most steps of the process in an earlier run
    std::uint64_t priority;  // its priority in this run, for pct; 0 if none is drawn yet
  };

  explicit walkers_map(std::uint64_t seed) : rng_(seed) {}

  /// A number from `from` to `to`, both included.  Not for the full range: `from` is not 0, or `to`
  /// is not the largest number.
  [[nodiscard]] std::uint64_t draw(std::uint64_t from, std::uint64_t to) {
    return from + rng_.below(to - from + 1);
  }
  [[nodiscard]] place& of(process_id id) {
    auto const [i, is_new] = indices_.enter(id.hash(), places_.size());
    return is_new ? places_.emplace_back(place{0, 0, 0}) : places_[i];
  }
  [[nodiscard]] std::size_t longest() const noexcept { return longest_; }
  /// Notes the lengths of a run and of its processes, unless it was cut: a run that was cut would
  /// make all others look short.
  void on_run_end(std::size_t steps, run_end how) noexcept {
    bool const counts = how != run_end::cut;
    if (counts) longest_ = std::max(longest_, steps);
    for (auto& p : places_) {
      if (counts) p.most = std::max(p.most, p.steps);
      p.steps = p.priority = 0;
    }
  }

 private:
  portable_rng rng_;
  word_table<std::size_t> indices_;  // by the hashes of ids, which are unique
  std::vector<place> places_;
  std::size_t longest_ = 1;
};

class random_walker : public strategy {
 public:
  explicit random_walker(walkers_map& m) noexcept : map_(m) {}

  std::size_t choose(candidates const& who) final {
    if (steps_++ == 0) begin();
    std::size_t const i = pick(who);
    ++map_.of(who[i]).steps;
    return i;
  }
  std::size_t decide(std::size_t ways) final { return map_.draw(0, ways - 1); }
  void on_run_end(run_end how) final { map_.on_run_end(std::exchange(steps_, 0), how); }

 protected:
  virtual void begin() {}
  [[nodiscard]] virtual std::size_t pick(candidates const& who) = 0;
  /// The number of the current step, from 1.
  [[nodiscard]] std::size_t step() const noexcept { return steps_; }

  walkers_map& map_;

 private:
  std::size_t steps_ = 0;
};

class uniform_walker final : public random_walker {
 public:
  using random_walker::random_walker;

 private:
  std::size_t pick(candidates const& who) override { return map_.draw(0, who.size() - 1); }
};

class weighted_walker final : public random_walker {
 public:
  using random_walker::random_walker;

 private:
  std::size_t pick(candidates const& who) override {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i != who.size(); ++i) all += left(who[i]);
    std::uint64_t lot = map_.draw(1, all);
    for (std::size_t i = 0;; ++i) {
      std::uint64_t const mine = left(who[i]);
      if (lot <= mine) return i;
      lot -= mine;
    }
  }
  /// An estimate of the steps that a process has left: at least one, since it is ready.
  [[nodiscard]] std::uint64_t left(process_id id) {
    auto const& p = map_.of(id);
    return p.most > p.steps ? p.most - p.steps : 1;
  }
};

class pct_walker final : public random_walker {
 public:
  pct_walker(walkers_map& m, std::size_t depth) noexcept : random_walker(m), depth_(depth) {}

 private:
  void begin() override {
    spins_.clear();
    deep_ = spin_priorities;
    falls_.clear();
    for (std::size_t i = 1; i != depth_; ++i) falls_.push_back(map_.draw(1, map_.longest()));
  }
  static constexpr std::uint64_t spin_priorities = 1 << 20;

  /// At step falls_[i] the process that would run falls to the priority spin_priorities + i + 1.
  /// falls_ is not sorted, so a process that falls later may keep a higher priority.
  std::size_t pick(candidates const& who) override {
    // A process that spins falls below all others: else they would never run.
    if (spins_.choose(who, step()) != candidates::none) map_.of(who[who.last]).priority = --deep_;
    std::size_t best = highest(who);
    for (std::size_t i = 0; i != falls_.size(); ++i)
      if (falls_[i] == step()) {
        map_.of(who[best]).priority = spin_priorities + i + 1;
        best = highest(who);
      }
    spins_.note(who, step(), best);
    return best;
  }
  [[nodiscard]] std::size_t highest(candidates const& who) {
    std::size_t best = 0;
    for (std::size_t i = 1; i != who.size(); ++i)
      if (priority(who[i]) > priority(who[best])) best = i;
    return best;
  }
  [[nodiscard]] std::uint64_t priority(process_id id) {
    auto& p = map_.of(id);
    // A drawn priority is above those of fallen processes.  If two processes draw the same, which
    // is rare, the first in the order of ids runs first.
    if (p.priority == 0) p.priority = map_.draw(std::uint64_t{1} << 32, ~std::uint64_t{0});
    return p.priority;
  }

  std::size_t const depth_;
  std::vector<std::size_t> falls_;
  spin_watch spins_;
  std::uint64_t deep_ = spin_priorities;  // the priority of the process that has spun last
};

}  // namespace weft::detail
