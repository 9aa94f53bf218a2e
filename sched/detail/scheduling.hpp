// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "effects/handle.hpp"
#include "effects/proc.hpp"
#include "sched/backend.hpp"
#include "sched/detail/recorder.hpp"
#include "sched/detail/scheduling_base.hpp"
#include "sched/detail/scheduling_clauses.hpp"
#include "sched/spawning.hpp"

/// The scheduler at work: what its clauses say, and who runs next.
namespace weft::detail {

template <backend Backend>
class scheduling final : public scheduling_base {
 public:
  using backend_type = Backend;

  template <class... Args>
  explicit scheduling(Args&&... args) : backend_(std::in_place, std::forward<Args>(args)...) {
    worker_.emplace(*backend_, 0U);
  }

  // ---- before: which effects there are

  /// `All`: of every process that there may be.  `find.template operator()<F>()` gives the
  /// evidence of what stands outside.
  template <class... All, class Find>
  void learn_all(row<All...>, Find&& find) {
    ours_.reserve(2 * sizeof...(All));
    expect(sizeof...(All));
    was_started_ = true;
    (learn_effect(identity<All>(), find), ...);
  }

  // ---- the clauses, as in seed 002

  void on(proc::yield) { put(box(), why::yielded); }
  void on(proc::fork) {
    auto& p = static_cast<forkable_process&>(running());
    thunk second(p.twin(p.next_child(), *this), false);
    ++alive_;
    put(box(true), why::yielded);
    put(std::move(second), why::started);
  }
  void on(syncing::wait w) {
    thunk& place = place_at(*w.at);
    place = box();
  }
  void on(syncing::wake w) {
    require_ours(*w.at);
    for (std::size_t n = std::min(w.most, w.at->waiting()); n; --n) put(leave(*w.at), why::woken);
  }
  template <class Start>
  void on(Start start) {  // of a spawning<...>
    birth& b = *start.what;
    process_id const id = running().next_child();
    if (b.is_forkable())
      begin(new_process(id, b.forkable_program()), true);
    else
      begin(new_process(id, b.frame()), false);
  }

  // ---- from ordinary code

  template <class Program>
  void start(Program program, bool keeps_log, std::size_t log_limit) {
    log_limit_ = log_limit;
    auto* const first = new program_of<Program>(std::move(program));
    if (keeps_log) return begin(new_process({}, first), true);
    first_ = first;  // its frames refer to what it captured
    begin(new_process({}, first->start()), false);
  }
  /// Runs one process up to its next operation that lets others run.  False if none is left.
  bool step() {
    at_work const here(*this);
    do {
      prompt::driver const outside;
      set_innermost(this);
      one_step(false);
      auto const first = next();
      if (running_) {
        one_step(true);
        drive(first);
        return true;
      }
    } while (settle());
    return false;
  }
  void run() {
    at_work const here(*this);
    do {
      prompt::driver const outside;
      set_innermost(this);
      one_step(false);
      drive(next());
    } while (settle());
  }

  [[nodiscard]] typename Backend::worker& worker() noexcept { return *worker_; }
  [[nodiscard]] Backend& base() noexcept { return *backend_; }

  [[nodiscard]] bool is_running() const noexcept { return running_ != nullptr; }
  /// A process runs, or one is started or unwound.
  [[nodiscard]] bool is_at_work() const noexcept { return at_work_; }
  [[nodiscard]] bool was_started() const noexcept { return was_started_; }
  [[nodiscard]] bool can_be_kept() const noexcept { return unforkable_ == 0 && !somebody_waits(); }
  [[nodiscard]] std::string why_not_kept();
  [[nodiscard]] std::size_t alive() const noexcept { return alive_; }
  /// Those that there are go, and these come instead: all of them can be run again.
  template <class Queue>
  void start_over(Queue ready, std::size_t alive, std::vector<exceptions::failure> failures);

  // ---- as a prompt

  continuation finished(process& p) noexcept override {
    if (!p.ended_quietly()) [[unlikely]]
      return finished_somehow(p);
    running_ = nullptr;
    --unforkable_;
    --alive_;
    p.die();
    return next();
  }
  continuation finished_somehow(process& p) noexcept;
  std::coroutine_handle<> end_diverged(std::coroutine_handle<> leaf, site const& at) override;
  /// The scheduler is over: so is everyone.
  void end() noexcept;

  // ---- for the clauses

  /// Notes where the process will wait.  The frame to go on with, if it has diverged.
  template <class O>
  std::coroutine_handle<> before_recording(O const& o, std::coroutine_handle<> leaf,
                                           std::source_location where);
  [[noreturn]] static void throw_has_no_log(site const& at);

  void exit(process& p) noexcept {
    set_innermost(this);
    running_ = nullptr;
    bury(&p, nullptr);
  }
  /// It has ended, or is to: that is its error, null if there is none.  Its count is dropped.
  [[gnu::always_inline]] void bury(process* p, std::exception_ptr error) noexcept {
    if (error) [[unlikely]]
      failed(p->id(), std::move(error));
    if (!p->is_forkable() || static_cast<forkable_process&>(*p).is_sealed()) --unforkable_;
    --alive_;
    p->release();
  }

  [[nodiscard, gnu::always_inline]] std::coroutine_handle<> next() noexcept {
    if (look_up_) [[unlikely]]
      return next_with_care();
    thunk t = take();
    if (!t) [[unlikely]]
      return nobody(t.why_empty());
    std::uint64_t const answer = t.answer();
    return go_on(t.release(), answer);
  }
  [[nodiscard]] bool can_exchange() const noexcept { return !look_up_ && worker_->can_exchange(); }
  [[nodiscard, gnu::always_inline]] std::coroutine_handle<> exchange(
      operation_info const& operation, std::coroutine_handle<> leaf, awaited& waiting) noexcept {
    process& p = running();
    p.stop_here(operation, leaf, waiting);
    thunk t = worker_->exchange(thunk(&p));
    std::uint64_t const answer = t.answer();
    return go_on(t.release(), answer);
  }

 private:
  struct at_work {
    explicit at_work(scheduling& s) noexcept : home(s) { home.at_work_ = true; }
    at_work(at_work const&) = delete;
    at_work& operator=(at_work const&) = delete;
    ~at_work() { home.at_work_ = false; }
    scheduling& home;
  };

  // ---- births and deaths

  [[nodiscard, gnu::always_inline]] process* new_process(process_id id, first_frame first) {
    try {
      return process::start(id, first.handle, this->evidence_for(*first.row, false), *this, sink_);
    } catch (...) {
      first.handle.destroy();
      throw;
    }
  }
  [[nodiscard]] process* new_process(process_id id, class program* p) {
    try {
      return new forkable_process(id, p, log_limit_);
    } catch (...) {
      p->release();
      throw;
    }
  }
  [[gnu::always_inline]] void begin(process* p, bool keeps_log) noexcept {
    ++alive_;
    if (!keeps_log) ++unforkable_;
    put(thunk(p), why::started);
  }

  // ---- who runs next

  [[gnu::always_inline]] void put(thunk&& t, why w) noexcept {
    try {
      worker_->put(std::move(t), w);
    } catch (...) {
      was_not_put(t);
    }
  }
  void was_not_put(thunk& t) noexcept;
  void make_ready(thunk t) noexcept override { put(std::move(t), why::woken); }
  /// The process that runs is boxed with its answer: no longer ours, and next() says who is.
  [[nodiscard]] thunk box(std::uint64_t answer = 0) noexcept { return thunk(running_, answer); }
  [[nodiscard, gnu::always_inline]] thunk take() noexcept {
    try {
      return worker_->take(instant::max(), dry_test());
    } catch (...) {
      broken_ = std::current_exception();
      return thunk::nothing::stopped;
    }
  }
  [[nodiscard, gnu::always_inline]] std::coroutine_handle<> go_on(process* p,
                                                                  std::uint64_t answer) noexcept {
    if (!p->is_plain()) [[unlikely]]
      return next_unless_over(p, answer);
    running_ = p;
    return p->go_on(answer);
  }
  [[nodiscard]] std::coroutine_handle<> nobody(thunk::nothing why) noexcept {
    stopped_ = why == thunk::nothing::stopped;
    running_ = nullptr;
    return std::noop_coroutine();
  }
  thunk take_with_care() noexcept;
  std::coroutine_handle<> next_with_care() noexcept;
  std::coroutine_handle<> next_unless_over(process* p, std::uint64_t answer) noexcept;
  std::coroutine_handle<> prepare(process* p, std::uint64_t answer) noexcept;
  void prepare_log(forkable_process& p, std::uint64_t answer);
  forkable_process* owned(forkable_process* p);
  bool settle();

  // ---- evidence

  template <class F, class Find>
  void learn_effect(identity<F>, Find& find) {
    if constexpr (is_ours<F>) {
      auto* const a = own(std::make_unique<scheduler_place<scheduling, F, false>>(*this));
      auto* const b = own(std::make_unique<scheduler_place<scheduling, F, true>>(*this));
      learn({&name_of<F>, static_cast<evidence<F>*>(a), static_cast<evidence<F>*>(b)});
    } else {
      evidence<F>& outer = *find.template operator()<F>();
      auto* const r = own(std::make_unique<recorder<F>>(*this, outer));
      learn_outer(outer.clauses->home(outer));
      learn({&name_of<F>, &outer, r->stand_in()});
    }
  }
  template <class R>
  R* own(std::unique_ptr<R> r) {
    R* const p = r.get();
    ours_.push_back(std::move(r));
    return p;
  }
  void end_evidence() noexcept override {
    for (auto& r : ours_) r->expire();
  }

  std::optional<Backend> backend_;  // until the end: it may hold processes
  std::optional<typename Backend::worker> worker_;
  bool was_started_ = false;
  bool at_work_ = false;
  std::size_t log_limit_ = 0;
  class program* first_ = nullptr;  // of a first process without a log
  answer<void> sink_;               // where a process that has not started waits for its answer
  bool stopped_ = false;            // the backend was
  std::exception_ptr broken_;       // the backend could not say who is next
  std::vector<std::unique_ptr<recorder_base>> ours_;
};

}  // namespace weft::detail

#include "sched/detail/scheduling_rare.hpp"
