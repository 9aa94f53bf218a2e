// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "effects/handle.hpp"
#include "sched/base/detail/forkable_process.hpp"
#include "sched/base/detail/program.hpp"
#include "sched/base/detail/worker_state.hpp"
#include "sched/base/errors.hpp"
#include "sched/base/process.hpp"
#include "sched/base/thunk.hpp"
#include "sched/mail/detail/mailbox_registry.hpp"
#include "sched/runtime/detail/admission.hpp"
#include "sched/runtime/detail/effect_table.hpp"
#include "sched/runtime/detail/submission_gate.hpp"
#include "sched/sync/detail/wait_registry.hpp"
#include "sched/tasks/detail/join_table.hpp"

/// What a scheduler knows, whatever its backend: who lives, who waits, who failed.
namespace weft::detail {

struct start_options {  // as in schedule_options
  bool forkable;
  std::size_t log_limit;
  std::stop_token stop;
  bool virtual_time;
  std::size_t max_processes;
  overflow_policy when_full;
};

class scheduling_base : public scheduler_prompt, public waiting_room {
 public:
  /// The log of the process that runs; one that is over if it keeps none.
  [[nodiscard]] replay_log& log_of_running() noexcept {
    desk& d = here();
    return d.running && d.running->is_forkable() ? static_cast<forkable_process&>(*d.running).log()
                                                 : d.no_log;
  }

  /// Ends the process that runs, which performs something else than the first time.  Throws if
  /// ordinary code stands in between, which cannot be ended; and again when the process ends.
  virtual std::coroutine_handle<> end_diverged(std::coroutine_handle<> leaf, site const& at) = 0;

  /// Tells schedulers apart, also those that are no more.
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }

  /// Evidence for a row of effects that are all known.  Throws bad_alloc.
  void* evidence_for(row_info const& row, bool recorded) {
    desk::row_cache& last = here().last_row[recorded];
    if (last.row != &row) [[unlikely]]
      last = {&row, known_.look_up(row, recorded)};
    return last.evidence;
  }

  [[nodiscard]] std::vector<exceptions::failure> const& failures() const noexcept {
    return failures_;
  }

  /// Whether there is more to do at each step than to run the next process.
  [[nodiscard]] bool must_look_up() const noexcept {
    // Relaxed: a thread that sees it late runs a process meanwhile.  What it stands for is read
    // under a lock, or when all threads have ended; so is it itself where a process enters a list
    // (CANCEL-2 of wake_if.hpp).
    return look_up_.load(std::memory_order_relaxed) != 0;
  }
  /// Whether a process that stands there is to end: with its group, or with all others.
  [[nodiscard]] bool is_to_end_at(continuation at) const noexcept {
    return is_cancelling() || (some_group_is_cancelled() && is_cancelled_at(at));
  }
  /// Those who wait and are meant go on (wake_if.hpp).
  template <class IsMeant>
  void wake_if(IsMeant const& is_meant) noexcept;

  // ---- as a prompt

  continuation ended() noexcept override { std::terminate(); }  // no frame ends here
  [[nodiscard]] std::string_view const& handler_name() const noexcept override {
    static constexpr std::string_view name = "weft::scheduler";
    return name;
  }
  [[nodiscard]] std::source_location installed_at() const noexcept override { return {}; }
  void visit_outers(prompt_visitor f) const override {
    for (prompt* const p : outers_) f(*p);
  }

 protected:
  scheduling_base(bool several_threads, unsigned wakes, bool has_entrance)
      : waiting_room(several_threads, wakes),
        entrance_(has_entrance ? std::make_shared<entrance>() : nullptr),
        registry_(new mailbox_registry(*this, several_threads)) {
    borrowed_ = true;
    if (several_threads) become_shared();
  }
  ~scheduling_base() override {
    for (auto* const p : outers_) p->release_by_inner();
    registry_->close();
  }

  /// This thread's; the scheduler's own, if it does not run processes of ours.
  [[nodiscard]] desk& here() noexcept {
    desk* const d = desk::of_thread;
    return d && d->home == this ? *d : own_;
  }

  /// A handler outside, which we keep.
  void learn_outer(prompt& p) {
    outers_.push_back(&p);
    p.keep();
  }
  /// Before several threads run what may perform to them.
  void share_outers() {
    std::vector<prompt*> all = outers_;
    for (std::size_t i = 0; i != all.size(); ++i) {
      all[i]->become_shared();
      all[i]->add_outers(all);
    }
  }

  // ---- groups of tasks (task.hpp)

  [[nodiscard]] bool some_group_is_cancelled() const noexcept {
    return groups_cancelled_.load(std::memory_order_relaxed) != 0;  // relaxed: as must_look_up
  }
  void one_group_is_cancelled(bool now) noexcept {
    groups_cancelled_.fetch_add(now ? 1 : ~0U, std::memory_order_relaxed);  // as must_look_up
    must_look_up(now);
  }
  /// One that waits.
  [[nodiscard]] bool is_to_end(process const& p) const noexcept {
    return some_group_is_cancelled() && p.is_waiting() && is_cancelled_at(p.leaf());
  }
  [[nodiscard]] static cancelled why_with_others() noexcept;
  join_table tasks_{*this};

  // ---- failures

  [[nodiscard]] bool is_cancelling() const noexcept {
    return cancelling_.load(std::memory_order_relaxed);  // as look_up_
  }
  /// Asked by who enters a list (CANCEL-2 of wake_if.hpp).
  [[nodiscard]] auto refusing() noexcept {
    return [this](process const& p) noexcept {
      return must_look_up() && (is_cancelling() || is_to_end(p));
    };
  }
  /// For one step only: then nobody is next.
  void one_step(bool on) noexcept {
    if (std::exchange(one_step_, on) != on) must_look_up(on);
  }
  [[nodiscard]] bool is_one_step() const noexcept { return one_step_; }
  void failed(process_id id, std::exception_ptr error) noexcept {
    if (is_cancelling() && is_cancelled(error)) return;
    note({id, std::move(error)});
    cancel_all();
  }
  /// Everyone finds `cancelled` at his next operation.
  void cancel_all() noexcept {
    // Relaxed: as must_look_up.  One of those who come here closes.
    if (cancelling_.exchange(true, std::memory_order_relaxed)) return;
    must_look_up(true);
    note_all_cancelled();
    close_entrance();
    close_outside();
    timers_.close();
    wake_all_sleepers();
  }
  /// Nobody comes in from outside any more.
  void close_entrance() noexcept {
    if (entrance_) entrance_->close();
    admission_.close();
  }
  void cancels_somebody() noexcept {
    has_cancelled_.store(true, std::memory_order_relaxed);  // relaxed: read when nobody runs
  }
  [[nodiscard]] bool has_cancelled() const noexcept {
    return has_cancelled_.load(std::memory_order_relaxed);  // as above
  }
  /// A thread of ours has ended.
  void add_up(desk& d) noexcept {
    std::lock_guard const lock(failures_mutex_);
    own_.alive += d.alive;
    own_.unforkable += d.unforkable;
    own_.stopped |= d.stopped;
    if (d.broken) own_.broken = std::move(d.broken);
  }
  /// Somebody waits, and not for what is outside.
  [[nodiscard]] bool somebody_waits_inside() const {
    return somebody_waits_here() || tasks_.somebody_waits() || registry_->somebody_waits() ||
           admission_.somebody_waits();
  }
  [[nodiscard]] bool somebody_waits_anywhere() const {
    return somebody_waits_inside() || somebody_waits_outside();
  }
  /// All who wait are to be cancelled; that is a failure, unless there was one.
  void nobody_is_ready() {
    if (!is_cancelling()) failed({}, std::make_exception_ptr(deadlock(all_who_wait())));
    wake_all();
  }
  void wake_all() noexcept {
    wake_all_at_gates();
    wake_all_sleepers();
    auto const cancel_it = [this](thunk t) { make_cancelled(*t.release()); };
    tasks_.take_if(everybody, [this](task_waiter&, process* p) { make_cancelled(*p); });
    registry_->take_all(cancel_it);
    turn_away_if(everybody, cancel_it);
  }
  [[nodiscard]] std::string who_waits() const;
  /// Those who wait must not outlive us.
  void drop_who_waits() noexcept {
    registry_->take_all([](thunk) {});
    turn_away_if(everybody, [](thunk) {});
    tasks_.take_if(everybody, [](task_waiter&, process* p) { p->release(); });
    waiting_room::drop_who_waits();
  }
  void failures(std::vector<exceptions::failure> f) noexcept {
    failures_ = std::move(f);
    if (failures_.empty())
      cancel_no_more();
    else
      cancel_all();
  }
  void throw_failures() {
    if (is_cancelling()) cancel_no_more();
    auto all = std::exchange(failures_, {});
    if (only_.error) {
      if (all.empty()) std::rethrow_exception(std::exchange(only_.error, nullptr));
      all.insert(all.begin(), std::exchange(only_, {}));
    }
    if (all.size() == 1) std::rethrow_exception(std::move(all.front().error));
    if (all.size() > 1) throw exceptions(std::move(all));
  }
  [[nodiscard]] mailbox_registry& registry() const noexcept { return *registry_; }

  desk own_{*this};
  known_effects known_;
  std::shared_ptr<entrance> const entrance_;  // null where schedules are explored
  admission admission_;

 private:
  [[nodiscard]] std::vector<deadlock::waiter> all_who_wait() const;  // deadlock_report.hpp
  static constexpr auto everybody = [](process const&) noexcept { return true; };
  template <class IsMeant, class F>
  void turn_away_if(IsMeant const& is_meant, F f);
  void note(exceptions::failure f) noexcept {
    note_access(&failures_, true);
    std::lock_guard const lock(failures_mutex_);
    try {
      failures_.push_back(f);
    } catch (...) {  // no memory to say so: the first failure must do
      bool const says_little = !only_.error || is_cancelled(only_.error);
      if (failures_.empty() && says_little) only_ = std::move(f);
    }
  }
  /// For one reason more, or one less.
  void must_look_up(bool more) noexcept {
    look_up_.fetch_add(more ? 1 : ~0U, std::memory_order_relaxed);  // as must_look_up()
  }
  void cancel_no_more() noexcept {
    // Relaxed: nobody runs.
    if (cancelling_.exchange(false, std::memory_order_relaxed)) must_look_up(false);
    has_cancelled_.store(false, std::memory_order_relaxed);
    open_outside();
    timers_.open();
  }

  [[gnu::visibility("default")]] static std::uint64_t next_serial() noexcept {
    // By the block: an atomic step for each would be felt where small programs are run by the
    // million.
    static constexpr std::uint64_t block = 1024;
    static constinit std::atomic<std::uint64_t> blocks = 0;
    static thread_local constinit std::uint64_t next = 0;
    // Relaxed: numbers that differ will do.
    if (next % block == 0) next = blocks.fetch_add(1, std::memory_order_relaxed) * block;
    return next++;
  }

  std::uint64_t const serial_ = next_serial();
  mailbox_registry* const registry_;
  std::vector<prompt*> outers_;        // that our processes may perform to
  std::atomic<unsigned> look_up_ = 0;  // for so many reasons more is to do than to run who is next
  std::atomic<unsigned> groups_cancelled_ = 0;
  std::atomic<bool> cancelling_ = false;
  std::atomic<bool> has_cancelled_ = false;
  bool one_step_ = false;
  std::mutex failures_mutex_;
  std::vector<exceptions::failure> failures_;  // under failures_mutex_, while processes run
  exceptions::failure only_;                   // the first, if there was no memory for it
};

}  // namespace weft::detail

#include "sched/runtime/detail/wake_if.hpp"
