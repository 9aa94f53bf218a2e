// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/sched/backends/detail/injection_queue.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/decision.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/pending_operation.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/testing/exploration.hpp"
#include "weft/testing/path.hpp"

/// A backend that asks a strategy at each step which process runs.
///
///   CHOICE-1  Candidates are in the order of their ids.  So the number of a choice means the same
///       process in every run that has made the same choices before.
///   CHOICE-2  A step with one candidate is no choice, and a decision with one way is no decision:
///       neither is recorded.
///   CHOICE-3  If there is no memory for the record, or for the notes of the strategy, the run
///       ends, and the search throws bad_alloc.  Such an end is no outcome of the program.
namespace weft::detail {

/// The processes that may run.
struct candidates {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::vector<thunk> const& ready;  // in the order of ids (CHOICE-1); at least one
  std::size_t last;                 // the index of the process that ran last, or none

  [[nodiscard]] std::size_t size() const noexcept { return ready.size(); }
  [[nodiscard]] process_id operator[](std::size_t i) const noexcept { return ready[i].get()->id(); }
};

/// How a run has ended, after its last step.
enum class run_end : std::uint8_t {
  came,   // all processes have ended, or wait
  threw,  // an exception has ended the last step, or the run
  cut     // the run was longer than allowed
};

/// Makes the choices of a run.  choose() is called at each step, even if there is one candidate.
class strategy {
 public:
  strategy() = default;
  strategy(strategy const&) = delete;
  strategy& operator=(strategy const&) = delete;
  virtual ~strategy() = default;

  /// Returns the index of the candidate that runs next; or none, and then the run ends here, and
  /// does not count.
  virtual std::size_t choose(candidates const& who) = 0;
  /// Makes a decision in the middle of a step: returns the number of one of `ways` ways, from 0;
  /// there are two or more.
  virtual std::size_t decide(std::size_t ways) = 0;
  /// Called at the end of a step if choose() is not called next, since no process is ready, or all
  /// are being unwound.
  virtual void step_ends() {}
  /// Called after the last step of a run.
  virtual void on_run_end(run_end) {}
  /// The listener to the accesses of processes; null if there is none.
  [[nodiscard]] virtual location_listener* listener() noexcept { return nullptr; }
  /// Whether an allocation of the strategy has failed where it could not throw.  Since then
  /// choose() has returned none, and the strategy cannot be used any more.
  [[nodiscard]] virtual bool lacks_memory() const noexcept { return false; }
};

/// The ids as text: "1.1, 1.2 and 1.3".
template <class Ids>
std::string text_of_ids(Ids const& ids, std::size_t size) {
  std::string s;
  for (std::size_t i = 0; i != size; ++i)
    s += (i == 0 ? "" : i + 1 == size ? " and " : ", ") + ids[i].text();
  return s;
}

inline std::string text_of_ways(std::size_t n) { return "one of " + std::to_string(n) + " ways"; }

/// The record of a run.
struct run_log {
  static constexpr std::size_t no_ids = static_cast<std::size_t>(-1);

  /// A choice of a process, or a decision.
  struct choice {
    unsigned taken;
    unsigned of;
    std::size_t step;   // counted from 1
    std::size_t first;  // where its candidates begin in `ids`; no_ids for a decision
    [[nodiscard]] bool is_decision() const noexcept { return first == no_ids; }
  };
  std::vector<choice> choices;  // CHOICE-2
  std::vector<process_id> ids;
  std::size_t steps = 0;
  std::size_t switches = 0;
  std::size_t preemptions = 0;
  std::size_t decisions = 0;   // how many decisions were not 0
  bool was_quiescent = false;  // no process was ready
  bool was_cut = false;        // the run was longer than allowed
  bool was_given_up = false;   // the strategy chose no candidate
  bool lacks_memory = false;   // CHOICE-3
  std::vector<schedule_step>* trace = nullptr;
  std::vector<thunk> room;  // memory for the list of ready processes, kept from run to run

  /// Reserves room for a short run.
  run_log() {
    choices.reserve(16);
    ids.reserve(48);
    room.reserve(8);
  }
  void clear() noexcept {
    choices.clear();
    ids.clear();
    steps = switches = preemptions = decisions = 0;
    was_quiescent = was_cut = was_given_up = lacks_memory = false;
  }
  [[nodiscard]] schedule_path path(granularity g) const;
  /// The step of the choice i; if there is no choice i, a number that no step has.
  [[nodiscard]] std::size_t step_of_choice(std::size_t i) const noexcept {
    return i < choices.size() ? choices[i].step : static_cast<std::size_t>(-1);
  }
  /// Whether the choice i was made in that step with the same candidates, or ways, in both runs.
  /// True, too, if it was made in that step in neither run.
  [[nodiscard]] bool chooses_as(run_log const& other, std::size_t i,
                                std::size_t step) const noexcept;
  /// The candidates, or ways, of the choice i as text; empty if it was not made in that step.
  [[nodiscard]] std::string candidates_at(std::size_t i, std::size_t step) const;
};

/// The limit of one run, and the granularity of its steps.
struct run_limits {
  std::size_t max_steps;
  weft::granularity granularity;
};

class controlled_backend : public decider, public event_deferrer {
 public:
  static constexpr unsigned wakes = ~0U;
  static constexpr bool hands_over = false;
  using header = pending_header;

  controlled_backend(strategy& c, run_log& log, run_limits const& limits) noexcept
      : strategy_(c), log_(log), limits_(limits), before_(std::exchange(decider::of_thread, this)) {
    log.clear();
    deferrer_before_ = event_deferrer::of_thread;
    event_deferrer::of_thread = is_parallel() ? this : nullptr;
  }
  virtual ~controlled_backend() {
    decider::of_thread = before_;
    event_deferrer::of_thread = deferrer_before_;
  }

  class worker {
   public:
    worker(controlled_backend& b, unsigned) noexcept : home_(b), ready_(b.log_.room) {}
    worker(worker const&) = delete;
    worker& operator=(worker const&) = delete;
    ~worker() { ready_.clear(); }

    void put(thunk&& t, put_reason) { put_in(std::move(t)); }
    thunk take(instant until, quiescence_test quiescent) try {
      home_.is_in_step_ = false;
      if (home_.injected_.has_news()) [[unlikely]]
        if (!home_.injected_.fetch(*this)) return thunk::reason::stopped;
      if (ready_.empty()) {
        home_.strategy_.step_ends();
        home_.log_.was_quiescent = true;
        if (auto w = home_.injected_.wait(*this, until, quiescent); !w.has_come)
          return std::move(w.instead);
      }
      run_log& log = home_.log_;
      if (log.steps == home_.limits_.max_steps) {
        log.was_cut = true;
        return thunk::reason::stopped;
      }
      candidates const who{ready_, last()};
      std::size_t const next = home_.strategy_.choose(who);
      if (next == candidates::none) {
        log.was_given_up = true;
        return thunk::reason::stopped;
      }
      return step(next, who.last);
    } catch (std::bad_alloc const&) {
      home_.log_.lacks_memory = true;  // CHOICE-3
      throw;
    }

    /// Takes a process while all processes are being unwound.  Their order is no part of the
    /// schedule, so the first ready process is taken.  But if there was no deadlock, and a ready
    /// process goes on because it has its answer (`has_answer(process&)`), the strategy chooses, as
    /// in take().
    template <class HasAnswer>
    thunk take_any(instant until, quiescence_test quiescent, HasAnswer has_answer) try {
      auto const goes_on = [&](thunk const& t) { return has_answer(*t.get()); };
      run_log const& log = home_.log_;
      bool const may_choose = !log.was_quiescent && log.steps != home_.limits_.max_steps;
      if (may_choose && std::ranges::any_of(ready_, goes_on)) return take(until, quiescent);
      home_.is_in_step_ = false;
      home_.strategy_.step_ends();
      if (home_.injected_.has_news() && !home_.injected_.fetch(*this))
        return thunk::reason::stopped;
      if (ready_.empty())
        if (auto w = home_.injected_.wait(*this, instant::max(), quiescence_test()); !w.has_come)
          return std::move(w.instead);
      thunk t = std::move(ready_.front());
      ready_.erase(ready_.begin());
      return t;
    } catch (std::bad_alloc const&) {
      home_.log_.lacks_memory = true;
      throw;
    }

    /// Calls f(thunk&) for each ready thunk; `f` may take the thunk, and may put others.
    template <class F>
    void take_out(F f) {
      if (ready_.empty()) return;
      std::vector<thunk> others;  // after the second swap, the thunks that f has put
      ready_.swap(others);
      for (thunk& t : others) f(t);
      std::erase_if(others, [](thunk const& t) { return !t; });
      ready_.swap(others);
      for (thunk& t : others) put_in(std::move(t));
    }

   private:
    friend class injection_queue;
    void put_in(thunk&& t) {  // in the order of ids (CHOICE-1)
      auto const after = [&t](thunk const& other) { return other.get()->id() > t.get()->id(); };
      auto const position = std::ranges::find_if(ready_, after);
      ready_.insert(position, std::move(t));
    }
    [[nodiscard]] bool is_empty() const noexcept { return ready_.empty(); }
    [[nodiscard]] std::size_t last() const noexcept {
      for (std::size_t i = 0; i != ready_.size(); ++i)
        if (ready_[i].get()->id() == last_) return i;
      return candidates::none;
    }
    thunk step(std::size_t next, std::size_t last) {
      run_log& log = home_.log_;
      auto const it = ready_.begin() + static_cast<std::ptrdiff_t>(next);
      process const& p = *it->get();
      bool const preempts = last != candidates::none && last != next;
      bool const switches = log.steps != 0 && p.id() != last_;
      log.was_quiescent = false;
      ++log.steps;
      if (ready_.size() != 1) note_choice(next);
      if (log.trace) log.trace->push_back(step_of(p, switches, preempts));
      log.switches += switches;
      log.preemptions += preempts;
      last_ = p.id();
      home_.is_in_step_ = true;
      thunk t = std::move(*it);
      ready_.erase(it);
      return t;
    }
    void note_choice(std::size_t next) {
      run_log& log = home_.log_;
      log.choices.push_back({static_cast<unsigned>(next), static_cast<unsigned>(ready_.size()),
                             log.steps, log.ids.size()});
      for (auto const& t : ready_) log.ids.push_back(t.get()->id());
    }
    schedule_step step_of(process const& p, bool switches, bool preempts) const {
      if (auto const event = home_.events_.first_of(p); !event.empty())
        return {p.id(), event, {}, switches, preempts, {}, true};
      if (home_.events_.end_of(p)) return {p.id(), "its end", {}, switches, preempts, {}, true};
      auto const [operation, where] = p.resumes_at();
      return {p.id(), operation, where, switches, preempts, {}, false};
    }

    controlled_backend& home_;
    std::vector<thunk>& ready_;
    process_id last_;  // the process that ran last; at the first step the value does not matter
  };

  void put(thunk&& t, put_reason) { injected_.put(std::move(t)); }
  thunk claim(process*) noexcept { return thunk::reason::quiescent; }
  void stop() { injected_.stop(); }
  /// Passes an access on to the listener.
  void touched(process*, void const* location, bool writes) noexcept {
    note_access(location, writes);
  }

  /// Returns 0 if no process runs: what happens before the run, and the unwinding after it, are no
  /// part of the schedule.
  std::size_t decide(std::size_t n, std::string_view const* names) override try {
    if (!is_in_step_ || n == 1) return 0;  // CHOICE-2
    std::size_t const taken = strategy_.decide(n);
    log_.choices.push_back(
        {static_cast<unsigned>(taken), static_cast<unsigned>(n), log_.steps, run_log::no_ids});
    log_.decisions += taken != 0;
    if (log_.trace)
      log_.trace->back().decisions.push_back(
          {static_cast<unsigned>(taken), std::string(names ? names[taken] : "")});
    return taken;
  } catch (std::bad_alloc const&) {
    log_.lacks_memory = true;
    throw;
  }

  [[nodiscard]] bool is_parallel() const noexcept {
    return limits_.granularity == granularity::parallel;
  }

  // ---- deferred events

  /// Sets the function `who(scheduler)`, which returns the running process if its events can be
  /// deferred, else null.
  void set_scheduler(void* scheduler, process* (*who)(void* scheduler) noexcept) noexcept {
    scheduler_ = scheduler;
    who_runs_ = who;
  }
  [[nodiscard]] deferred_events& events() noexcept { return events_; }
  [[nodiscard]] deferred_events const& events() const noexcept { return events_; }
  [[nodiscard]] bool defers() noexcept override {
    return who_runs_ && who_runs_(scheduler_) != nullptr;
  }
  void defer(std::unique_ptr<deferred_event>& e) override {
    events_.put(*who_runs_(scheduler_), e);
  }
  void apply_own() noexcept override {
    if (process const* const p = who_runs_ ? who_runs_(scheduler_) : nullptr)
      events_.apply_all_of(*p);
  }
  void apply_at(void const* at, bool own) noexcept override {
    process const* const only = own && who_runs_ ? who_runs_(scheduler_) : nullptr;
    if (own && !only) return;
    while (process const* const p = events_.owner_of_event_at(at, only)) events_.apply_first_of(*p);
  }

 private:
  strategy& strategy_;
  run_log& log_;
  run_limits const limits_;
  decider* const before_;
  event_deferrer* deferrer_before_;
  void* scheduler_ = nullptr;
  process* (*who_runs_)(void*) noexcept = nullptr;
  deferred_events events_;
  bool is_in_step_ = false;
  injection_queue injected_;
};
static_assert(exploring_backend<controlled_backend>);

}  // namespace weft::detail
