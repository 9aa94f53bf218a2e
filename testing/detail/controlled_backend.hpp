// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include "weft/sched/backends/detail/injection_queue.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/decision.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/testing/detail/exploring_observer.hpp"
#include "weft/testing/detail/ready_list.hpp"
#include "weft/testing/detail/run_log.hpp"
#include "weft/testing/detail/strategy.hpp"
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
///   CHOICE-4  The candidates of two runs are compared by a sum over their ids, which is kept up to
///       date as processes become ready.  So a choice is O(1) in the processes.  Their names are
///       recorded, for reports, only if there are few.
namespace weft::detail {

class controlled_backend : public decider, public event_deferrer {
 public:
  static constexpr unsigned wakes = ~0U;
  static constexpr bool hands_over = false;
  using header = pending_header;
  using observer = exploring_observer;

  controlled_backend(strategy& c, run_log& log, run_limits const& limits) noexcept {
    begin_run(c, log, limits);
  }
  virtual ~controlled_backend() { end_run(); }

  /// Begins a run, with no process in the backend.
  void begin_run(strategy& c, run_log& log, run_limits const& limits) noexcept {
    strategy_ = &c;
    log_ = &log;
    limits_ = limits;
    is_in_step_ = false;
    refused_ = 0;
    before_ = std::exchange(decider::of_thread, this);
    log.clear();
    deferrer_before_ = event_deferrer::of_thread;
    event_deferrer::of_thread = is_parallel() ? this : nullptr;
  }
  void end_run() noexcept {
    if (!std::exchange(log_, nullptr)) return;
    decider::of_thread = before_;
    event_deferrer::of_thread = deferrer_before_;
  }

  class worker {
   public:
    worker(controlled_backend& b, unsigned) noexcept
        : home_(b), ready_(std::exchange(b.log_->room, {})) {}
    worker(worker const&) = delete;
    worker& operator=(worker const&) = delete;
    ~worker() {
      ready_.clear();
      if (home_.log_) home_.log_->room = std::move(ready_);
    }

    /// Forgets the last run.  False if processes are ready.
    [[nodiscard]] bool try_reset() noexcept {
      close_gap();
      if (!is_empty()) return false;
      last_ = {};
      return true;
    }

    void put(thunk&& t, put_reason why) {
      if (why == put_reason::woken && home_.log_->trace) [[unlikely]]
        home_.note_woken(t.get()->id());
      put_in(std::move(t));
    }
    thunk take(instant until, quiescence_test quiescent) try {
      return take_next(until, quiescent);
    } catch (std::bad_alloc const&) {
      home_.log_->lacks_memory = true;  // CHOICE-3: the search throws bad_alloc
      throw;
    }
    /// Whether exchange() may be called: the process that was taken last has left a gap.  It is the
    /// gap of the running process, unless another process runs now.
    [[nodiscard]] bool can_exchange() const noexcept { return gap_ != candidates::none; }
    /// Puts `t` and takes the next process.  If there is no memory, the run ends; then `t` is
    /// dropped if it could not be put.
    [[nodiscard]] thunk exchange(thunk t) noexcept {
      try {
        put_in(std::move(t));
        return take_next(instant::max(), {});
      } catch (std::bad_alloc const&) {
        home_.log_->lacks_memory = true;  // CHOICE-3: the search throws bad_alloc
        return thunk::reason::stopped;
      }
    }

    /// Takes a process while all processes are being unwound.  Their order is no part of the
    /// schedule, so the first ready process is taken.  But if there was no deadlock, the run may
    /// have more steps, and a ready process goes on because it has its answer
    /// (`has_answer(process&)`), the strategy chooses, as in take().
    template <class HasAnswer>
    thunk take_any(instant until, quiescence_test quiescent, HasAnswer has_answer) try {
      run_log const& log = *home_.log_;
      close_gap();
      bool const may_choose = !log.was_quiescent && log.steps != home_.limits_.max_steps;
      if (may_choose)
        for (std::size_t i = 0; i != ready_.size(); ++i)
          if (has_answer(*ready_[i].who)) return take(until, quiescent);
      home_.is_in_step_ = false;
      home_.strategy_->step_ends();
      if (home_.injected_.has_news() && !home_.injected_.fetch(*this))
        return thunk::reason::stopped;
      if (ready_.empty())
        if (auto w = home_.injected_.wait(*this, instant::max(), quiescence_test()); !w.has_come)
          return std::move(w.instead);
      leave_gap(0);
      return ready_.take(0);
    } catch (std::bad_alloc const&) {
      home_.log_->lacks_memory = true;
      throw;
    }

    /// Calls f(thunk&) for each ready thunk; `f` may take the thunk, and may put others.
    template <class F>
    void take_out(F f) {
      close_gap();
      if (ready_.empty()) return;
      ready_list others;  // after the second swap, the thunks that f has put
      ready_.swap(others);
      note_order();
      for (std::size_t i = 0; i != others.size();) {
        process_id const id = others[i].id;
        thunk t = others.take(i);
        f(t);
        if (t)
          others.fill(i++, id, std::move(t));
        else
          others.erase(i);
      }
      ready_.swap(others);
      note_order();
      for (std::size_t i = 0; i != others.size(); ++i) put_in(others.take(i));
    }

   private:
    friend class injection_queue;
    [[gnu::always_inline]] thunk take_next(instant until, quiescence_test quiescent) {
      home_.is_in_step_ = false;
      if (home_.injected_.has_news()) [[unlikely]]
        if (!home_.injected_.fetch(*this)) return thunk::reason::stopped;
      close_gap();
      run_log& log = *home_.log_;
      if (ready_.empty()) [[unlikely]]
        if (auto w = wait(log, until, quiescent); !w.has_come) return std::move(w.instead);
      if (log.steps == home_.limits_.max_steps) [[unlikely]] {
        log.was_cut = true;
        return thunk::reason::stopped;
      }
      candidates const who{ready_, last_at_, sum_};
      std::size_t const next = home_.strategy_->choose(who);
      if (next == candidates::none) [[unlikely]] {
        log.was_given_up = true;
        return thunk::reason::stopped;
      }
      return step(log, who, next);
    }
    /// Computes the sum and the indices anew, after the list of ready processes, which has no gap,
    /// was exchanged.
    void note_order() noexcept {
      gap_ = last_at_ = candidates::none;
      sum_ = 0;
      for (std::size_t i = 0; i != ready_.size(); ++i) {
        if (ready_[i].id == last_) last_at_ = i;
        sum_ += candidates::part_of(ready_[i].id);
      }
    }
    [[gnu::always_inline]] void put_in(thunk&& t) {  // in the order of ids (CHOICE-1)
      process_id const id = t.get()->id();
      if (gap_ == candidates::none || id != ready_[gap_].id) return put_slow(std::move(t), id);
      ready_.fill(gap_, id, std::move(t));
      if (id == last_) last_at_ = gap_;
      gap_ = candidates::none;
    }
    void put_slow(thunk&& t, process_id id);
    [[nodiscard]] bool is_empty() const noexcept { return ready_.empty(); }
    /// Waits for a process.  Called when none is ready.
    [[gnu::noinline]] injection_queue::waited wait(run_log& log, instant until,
                                                   quiescence_test quiescent) {
      home_.strategy_->step_ends();
      log.was_quiescent = true;
      // The test comes before the look at injected_: a process that is due is put before the test
      // says that none is due (injection_queue::wait()).
      if (quiescent() && !home_.injected_.has_news()) return {false, thunk::reason::quiescent};
      return home_.injected_.wait(*this, until, quiescent);
    }

    // ---- the gap

    // A process that is taken leaves a gap: a slot with its id.  Most processes are put back into
    // their own gap, so that no other process is moved.

    void leave_gap(std::size_t at) noexcept {
      gap_ = at;
      if (last_at_ == at) last_at_ = candidates::none;
    }
    [[nodiscard]] bool fits_gap(process_id id) const noexcept {
      return (gap_ == 0 || ready_[gap_ - 1].id <= id) &&
             (gap_ + 1 == ready_.size() || id < ready_[gap_ + 1].id);
    }
    void fill_gap(thunk&& t, process_id id) noexcept {
      sum_ += candidates::part_of(id) - candidates::part_of(ready_[gap_].id);
      ready_.fill(gap_, id, std::move(t));
      if (id == last_) last_at_ = gap_;
      gap_ = candidates::none;
    }
    [[gnu::always_inline]] void close_gap() noexcept {
      if (gap_ != candidates::none) [[unlikely]]
        close_gap_slow();
    }
    void close_gap_slow() noexcept;

    [[gnu::always_inline]] thunk step(run_log& log, candidates const& who, std::size_t next) {
      process_id const id = who[next];
      bool const preempts = who.last != candidates::none && who.last != next;
      bool const switches = log.steps != 0 && id != last_;
      log.switches += switches;
      log.preemptions += preempts;
      log.was_quiescent = false;
      ++log.steps;
      if (who.size() != 1) {
        run_log::choice& c = log.choices.push();
        // push() returns the record as an earlier run has left it (reused.hpp): most often with the
        // names of the same candidates, which are not noted again.
        bool const has_names = !c.is_decision && c.sum == who.sum && c.of == who.size();
        c.taken = static_cast<unsigned>(next);
        c.of = static_cast<unsigned>(who.size());
        c.step = log.steps;
        c.is_decision = false;
        c.process = id;
        c.sum = who.sum;
        if (!has_names) who.note_names(c.names);
      }
      if (log.trace) [[unlikely]]
        log.trace->push_back(step_of(*ready_[next].who, switches, preempts));
      last_ = id;
      last_at_ = candidates::none;
      gap_ = next;
      home_.is_in_step_ = true;
      return ready_.take(next);
    }
    [[nodiscard]] schedule_step step_of(process const& p, bool switches, bool preempts);

    controlled_backend& home_;
    ready_list ready_;
    process_id last_;  // the process that ran last; at the first step the value does not matter
    std::size_t last_at_ = candidates::none;  // the index of last_; none if it is not ready
    std::size_t gap_ = candidates::none;      // the index of the slot without a process, or none
    std::uint64_t sum_ = 0;                   // candidates::sum of ready_, the gap included
  };

  void put(thunk&& t, put_reason) { injected_.put(std::move(t)); }
  thunk claim(process*) noexcept { return thunk::reason::quiescent; }
  void stop() { injected_.stop(); }
  /// Lets the strategy decide, and records the decision.  Returns 0 if no process runs: code before
  /// the first step, and the unwinding after the run, are no part of the schedule.
  std::size_t decide(std::size_t n, std::string_view const* names) override;

  void note_fork_without_log() noexcept { log_->lacks_log = true; }
  void note_spawned(process_id id, std::source_location where) noexcept {
    if (log_->trace) [[unlikely]]
      note(id, [&](run_log::known_process& p) { p.spawned_at = where; });
  }
  void note_call(process_id id, char const* call, std::source_location where) noexcept {
    if (log_->trace) [[unlikely]]
      note(id, [&](run_log::known_process& p) { p.call = call, p.called_at = where; });
  }
  void note_value(std::string (*text)(void const*), void const* value) noexcept override;

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
  bool had_groups = false;  // a scope was opened, or a task became a process
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
  template <class F>
  void note(process_id id, F f) noexcept try {
    f(log_->known[id]);
  } catch (std::bad_alloc const&) {
    log_->lacks_memory = true;  // CHOICE-3: the search throws bad_alloc
  }
  void note_woken(process_id id) noexcept;

  strategy* strategy_ = nullptr;
  run_log* log_ = nullptr;  // null between runs
  run_limits limits_{};
  decider* before_ = nullptr;
  event_deferrer* deferrer_before_ = nullptr;
  void* scheduler_ = nullptr;
  process* (*who_runs_)(void*) noexcept = nullptr;
  deferred_events events_;
  bool is_in_step_ = false;
  std::size_t refused_ = 0;  // decisions of a cut step, made without the strategy
  injection_queue injected_;
};
static_assert(observed_backend<controlled_backend>);

}  // namespace weft::detail
