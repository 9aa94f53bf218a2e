// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sched/backend.hpp"
#include "sched/exploration.hpp"
#include "sched/one_thread.hpp"  // its arrivals
#include "sched/path.hpp"
#include "sched/process_id.hpp"

/// A backend that asks who is to run next, and who answers: every schedule, one after the other,
/// or one that is written down.
///
///   C1  Candidates stand in the order of their ids.  So a choice means the same in every run that
///       came the same way.
///   C2  A step with one candidate is no choice.
///   C3  The schedules are visited depth first, the choice 0 before 1: next() counts the last
///       choice up, and drops it when it has been every one.
namespace weft::detail {

/// Who answers.
class choices {
 public:
  choices() = default;
  /// One schedule.
  explicit choices(schedule_path const& p) : follows_(true) {
    for (std::size_t i = 0; i != p.length(); ++i) taken_.push_back({p[i], 0, 0});
  }

  /// The run begins.
  void rewind() noexcept {
    at_ = 0;
    steps_ = 0;
    misfit_ = false;
    cut_ = false;
  }
  /// The next schedule (C3).  False if there is none.
  [[nodiscard]] bool next() noexcept {
    while (!taken_.empty() && ++taken_.back().choice == taken_.back().of) taken_.pop_back();
    return !taken_.empty();
  }
  /// One of the ready ones.
  [[nodiscard]] std::size_t choose(std::vector<thunk> const& ready) {
    if (ready.size() == 1) return 0;  // C2
    if (at_ == taken_.size()) {
      if (follows_) misfit_ = true;  // the path is too short: go on with the first
      taken_.push_back({0, static_cast<unsigned>(ready.size()), hash_of(ready)});
    }
    choice& c = taken_[at_++];
    if (c.of == 0) {  // from a path
      c.of = static_cast<unsigned>(ready.size());
      c.ids = hash_of(ready);
      if (c.choice >= c.of) misfit_ = true;
    } else if (c.of != ready.size() || c.ids != hash_of(ready)) {
      misfit_ = true;  // it came the same way, and is elsewhere
    }
    return std::min<std::size_t>(c.choice, ready.size() - 1);
  }

  /// False when the schedule is longer than it may be: then it is cut.
  [[nodiscard]] bool may_step(std::size_t most) noexcept {
    if (steps_ == most) cut_ = true;
    return steps_++ != most;
  }
  void trace_to(std::vector<schedule_step>* t) noexcept { trace_ = t; }
  [[nodiscard]] std::vector<schedule_step>* trace() const noexcept { return trace_; }

  [[nodiscard]] bool was_cut() const noexcept { return cut_; }
  /// The run did not come by where it should have: what it does depends on more than on its
  /// schedule; or the path is another program's.
  [[nodiscard]] bool misfit() const noexcept { return misfit_ || at_ != taken_.size(); }
  [[nodiscard]] schedule_path path() const {
    schedule_path p;
    for (std::size_t i = 0; i != at_; ++i) p.add(taken_[i].choice);
    return p;
  }
  [[nodiscard]] std::vector<thunk>& room() noexcept { return room_; }

 private:
  struct choice {
    unsigned choice;
    unsigned of;  // 0: not known yet
    std::uint64_t ids;
  };
  static std::uint64_t hash_of(std::vector<thunk> const& ready) noexcept {
    std::uint64_t h = 0;
    for (auto const& t : ready) h = (h ^ t.get()->id().hash()) * 0x9E3779B97F4A7C15u;
    return h;
  }

  std::vector<choice> taken_;
  std::size_t at_ = 0;
  std::size_t steps_ = 0;
  bool follows_ = false;
  bool misfit_ = false;
  bool cut_ = false;
  std::vector<schedule_step>* trace_ = nullptr;
  std::vector<thunk> room_;  // kept from run to run
};

/// The backend.
class choosing {
 public:
  static constexpr unsigned wakes = ~0U;
  static constexpr bool hands_over = false;

  choosing(choices& c, std::size_t most_steps) noexcept : choices_(c), most_steps_(most_steps) {}

  class worker {
   public:
    worker(choosing& b, unsigned) noexcept : home_(b), ready_(b.choices_.room()) {}
    worker(worker const&) = delete;
    worker& operator=(worker const&) = delete;
    ~worker() { ready_.clear(); }

    void put(thunk&& t, why) { put_in(std::move(t)); }
    thunk take(instant until, dry_test dry) {
      if (home_.arrivals_.has_news()) [[unlikely]]
        if (!home_.arrivals_.fetch(*this)) return thunk::nothing::stopped;
      if (ready_.empty())
        if (auto const w = home_.arrivals_.wait(*this, until, dry); !w.has_come) return w.why_not;
      choices& c = home_.choices_;
      if (!c.may_step(home_.most_steps_)) return thunk::nothing::stopped;
      auto const it = ready_.begin() + static_cast<std::ptrdiff_t>(c.choose(ready_));
      thunk t = std::move(*it);
      ready_.erase(it);
      if (c.trace()) c.trace()->push_back(step_of(*t.get()));
      return t;
    }

    /// When all are to be unwound: in which order is no part of the schedule.
    thunk take_any() {
      if (ready_.empty()) return take(instant::max(), dry_test());
      thunk t = std::move(ready_.front());
      ready_.erase(ready_.begin());
      return t;
    }

   private:
    friend class arrivals;
    void put_in(thunk&& t) {  // C1
      auto const after = [&t](thunk const& other) { return other.get()->id() > t.get()->id(); };
      auto const place = std::ranges::find_if(ready_, after);
      ready_.insert(place, std::move(t));
    }
    [[nodiscard]] bool is_empty() const noexcept { return ready_.empty(); }
    static schedule_step step_of(process const& p) {
      auto const [operation, where] = p.goes_on_from();
      return {p.id(), operation, where};
    }

    choosing& home_;
    std::vector<thunk>& ready_;
  };

  void put(thunk&& t, why) { arrivals_.put(std::move(t)); }
  thunk claim(process*) noexcept { return thunk::nothing::dry; }
  void stop() { arrivals_.stop(); }

 private:
  choices& choices_;
  std::size_t most_steps_;
  arrivals arrivals_;
};
static_assert(backend<choosing>);

}  // namespace weft::detail
