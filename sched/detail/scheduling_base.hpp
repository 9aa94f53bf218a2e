// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "effects/handle.hpp"
#include "sched/detail/forkable_process.hpp"
#include "sched/detail/program.hpp"
#include "sched/errors.hpp"
#include "sched/gate.hpp"
#include "sched/process.hpp"
#include "sched/thunk.hpp"

/// What a scheduler knows, whatever its backend: who lives, who waits, who failed; and which
/// handler stands for which effect.
namespace weft::detail {

/// An effect, and the evidence for it: for processes that keep a log, and for others.
struct known_effect {
  std::string_view const* effect;
  void* plain;
  void* recorded;
};

class scheduling_base : public scheduler_prompt {
 public:
  /// The process that runs.
  [[nodiscard]] process& running() const noexcept { return *running_; }
  /// Its log; one that is over if it keeps none.
  [[nodiscard]] replay_log& log_of_running() noexcept {
    return running_ && running_->is_forkable() ? static_cast<forkable_process&>(*running_).log()
                                               : no_log_;
  }

  /// Ends the process that runs, which performs something else than the first time.  Throws if
  /// ordinary code stands in between, which cannot be ended; and again when the process ends.
  virtual std::coroutine_handle<> end_diverged(std::coroutine_handle<> leaf, site const& at) = 0;

  /// Tells schedulers apart, also those that are no more.
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }

  /// Evidence for a row of effects that are all known.  Throws bad_alloc.
  void* evidence_for(row_info const& row, bool recorded) {
    row_cache& last = last_row_[recorded];
    if (last.row != &row) [[unlikely]]
      last = {&row, look_up(row, recorded)};
    return last.evidence;
  }

  // ---- gates

  /// Throws std::logic_error if those who wait there are not ours.
  void require_ours(gate const& g) const {
    if (g.home_ && g.home_ != this)
      throw std::logic_error("weft: processes of another scheduler wait at this gate");
  }
  /// Room for one who waits.  Throws std::logic_error, bad_alloc.
  thunk& place_at(gate& g) {
    require_ours(g);
    thunk& place = g.waiting_.emplace_back(thunk::nothing::dry);
    if (g.waiting_.size() == 1) {
      g.home_ = this;
      g.previous_ = nullptr;
      g.next_ = std::exchange(gates_, &g);
      if (g.next_) g.next_->previous_ = &g;
    }
    return place;
  }
  /// Who waits there longest.  Somebody does.
  thunk leave(gate& g) noexcept {
    thunk t = std::move(g.waiting_.front());
    g.waiting_.pop_front();
    if (g.waiting_.empty()) {
      (g.previous_ ? g.previous_->next_ : gates_) = g.next_;
      if (g.next_) g.next_->previous_ = g.previous_;
      g.home_ = nullptr;
    }
    return t;
  }
  void gate_ends(gate& g) noexcept {
    while (g.waiting()) {
      thunk t = leave(g);
      if (t.get()->is_waiting())  // else a handler round it has ended, and it waits for nothing
        t.get()->fail(std::make_exception_ptr(cancelled()));
      make_ready(std::move(t));
    }
  }

  [[nodiscard]] std::vector<exceptions::failure> const& failures() const noexcept {
    return failures_;
  }

  // ---- as a prompt

  continuation ended() noexcept override { std::terminate(); }  // no frame ends here
  [[nodiscard]] std::string_view const& handler_name() const noexcept override {
    static constexpr std::string_view name = "weft::scheduler";
    return name;
  }
  [[nodiscard]] std::source_location installed_at() const noexcept override { return {}; }
  void add_outers(std::vector<prompt*>& to) const override {
    to.insert(to.end(), outers_.begin(), outers_.end());
  }

 protected:
  scheduling_base() { borrowed_ = true; }
  ~scheduling_base() override {
    for (auto* const p : outers_) p->release_by_inner();
  }

  /// Somebody may run.  Not from a process's operation: nothing is thrown.
  virtual void make_ready(thunk t) noexcept = 0;

  void expect(std::size_t effects) {
    known_.reserve(effects);
    rows_.reserve(2);
  }
  void learn(known_effect e) { known_.push_back(e); }
  /// A handler outside, which we keep.
  void learn_outer(prompt& p) {
    outers_.push_back(&p);
    p.keep();
  }

  // ---- failures

  [[nodiscard]] bool is_cancelling() const noexcept { return cancelling_; }
  /// For one step only: then nobody is next.
  void one_step(bool on) noexcept {
    one_step_ = on;
    look_up_ = one_step_ || cancelling_;
  }
  [[nodiscard]] bool is_one_step() const noexcept { return one_step_; }
  void failed(process_id id, std::exception_ptr error) noexcept {
    if (cancelling_ && is_cancelled(error)) return;
    cancelling_ = look_up_ = true;
    exceptions::failure f{id, std::move(error)};
    try {
      failures_.push_back(f);
    } catch (...) {  // no memory to say so: the first failure must do
      if (failures_.empty()) only_ = std::move(f);
    }
  }
  /// All who wait at gates are to be cancelled; that is a failure, unless there was one.
  void nobody_is_ready() {
    if (!cancelling_) failed({}, std::make_exception_ptr(deadlock(all_who_wait())));
    while (gates_) make_ready(leave(*gates_));
  }
  void failures(std::vector<exceptions::failure> f) noexcept {
    failures_ = std::move(f);
    cancelling_ = !failures_.empty();
    look_up_ = one_step_ || cancelling_;
  }
  [[nodiscard]] bool somebody_waits() const noexcept { return gates_ != nullptr; }
  [[nodiscard]] std::string who_waits() const {
    auto const first = all_who_wait().front();
    return "process " + first.process.text() + " waits in " + first.what;
  }
  void throw_failures() {
    cancelling_ = false;
    look_up_ = one_step_;
    auto all = std::exchange(failures_, {});
    if (only_.error) {
      if (all.empty()) std::rethrow_exception(std::exchange(only_.error, nullptr));
      all.insert(all.begin(), std::exchange(only_, {}));
    }
    if (all.size() == 1) std::rethrow_exception(std::move(all.front().error));
    if (all.size() > 1) throw exceptions(std::move(all));
  }
  /// Those who wait must not outlive us.
  void drop_who_waits() noexcept {
    while (gates_) (void)leave(*gates_);
  }

  process* running_ = nullptr;
  bool look_up_ = false;  // there is more to do than to run who is next
  std::size_t alive_ = 0;
  std::size_t unforkable_ = 0;  // of them

 private:
  struct row_cache {
    row_info const* row = nullptr;
    void* evidence = nullptr;
  };
  struct row_array {
    row_info const* row;
    bool recorded;
    std::unique_ptr<void*[]> evidence;
  };

  [[nodiscard]] void* one(std::string_view const* effect, bool recorded) const noexcept {
    auto const it = std::ranges::find(known_, effect, &known_effect::effect);
    return recorded ? it->recorded : it->plain;
  }
  [[gnu::noinline]] void* look_up(row_info const& row, bool recorded) {
    if (row.size == 0) return nullptr;
    if (row.size == 1) return one(row.effects[0], recorded);
    for (auto const& r : rows_)
      if (r.row == &row && r.recorded == recorded) return r.evidence.get();
    auto all = std::make_unique<void*[]>(row.size);
    for (std::size_t i = 0; i != row.size; ++i) all[i] = one(row.effects[i], recorded);
    rows_.push_back({&row, recorded, std::move(all)});
    return rows_.back().evidence.get();
  }
  [[nodiscard]] static bool is_cancelled(std::exception_ptr const& error) noexcept {
    try {
      std::rethrow_exception(error);
    } catch (cancelled const&) {
      return true;
    } catch (...) {
      return false;
    }
  }
  [[nodiscard]] std::vector<deadlock::waiter> all_who_wait() const {
    std::vector<deadlock::waiter> all;
    for (auto const* g = gates_; g; g = g->next_)
      for (auto const& t : g->waiting_) {
        auto const& p = *t.get();
        all.push_back({p.id(), p.waits_at_text()});
      }
    std::ranges::sort(all, {}, &deadlock::waiter::process);
    return all;
  }

  static std::uint64_t next_serial() noexcept {
    static constinit std::atomic<std::uint64_t> last = 0;
    return last.fetch_add(1, std::memory_order_relaxed);  // relaxed: numbers that differ will do
  }

  std::uint64_t const serial_ = next_serial();
  std::vector<known_effect> known_;
  std::vector<row_array> rows_;
  row_cache last_row_[2];        // loops spawn the same row again and again
  std::vector<prompt*> outers_;  // that our processes may perform to
  replay_log no_log_{0};
  gate* gates_ = nullptr;  // at which somebody waits
  bool cancelling_ = false;
  bool one_step_ = false;
  std::vector<exceptions::failure> failures_;
  exceptions::failure only_;  // the first, if there was no memory for it
};

}  // namespace weft::detail

weft::gate::~gate() {
  if (home_) home_->gate_ends(*this);
}
