// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <source_location>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "effects/handle.hpp"
#include "effects/proc.hpp"
#include "sched/base/backend.hpp"
#include "sched/base/detail/deferred_events.hpp"
#include "sched/base/spawning.hpp"
#include "sched/runtime/detail/outer_recorder.hpp"
#include "sched/runtime/detail/scheduling_base.hpp"
#include "sched/runtime/detail/scheduling_clauses.hpp"
#include "sched/runtime/detail/scheduling_outside.hpp"
#include "sched/tasks/detail/task_service.hpp"

/// The scheduler at work: what its clauses say, and who runs next.
namespace weft::detail {

template <backend Backend>
class scheduling final : public scheduling_outside, public task_service<scheduling<Backend>> {
  friend class task_service<scheduling>;

 public:
  using backend_type = Backend;

  static constexpr bool on_several_threads = concurrent_backend<Backend>;
  static constexpr bool explores =
      exploring_backend<Backend> && requires(Backend const& b) { b.is_parallel(); };

  template <class... Args>
  explicit scheduling(Args&&... args)
      : scheduling_outside(on_several_threads, Backend::wakes, !explores),
        backend_(std::in_place, std::forward<Args>(args)...) {
    if constexpr (!on_several_threads) worker_.emplace(*backend_, 0U);
    if constexpr (explores)
      backend_->set_scheduler(this, [](void* s) noexcept {
        return static_cast<scheduling*>(s)->process_with_deferred_events();
      });
  }

  // ---- before: which effects there are

  /// `All`: of every process that there may be.  `find.template operator()<F>()` gives the
  /// evidence of what stands outside.
  template <class... All, class Find>
  void learn_all(row<All...>, Find&& find);

  // ---- the clauses, as in seed 002

  void on(proc::yield const&) { put(box(), put_reason::yielded); }
  void on(proc::fork const&);
  void on(syncing::wait& w);
  void on(syncing::wait_until& w);
  void on(syncing::wake const& w) { this->wake(*w.at, w.most); }
  [[nodiscard]] process_id on(syncing::own const&) noexcept { return running().id(); }
  void on(syncing::touch const& t) {
    if constexpr (exploring_backend<Backend>) backend_->touched(&running(), t.location, t.writes);
  }
  void on(completions::wait& w);
  void on(completions::wait_until& w);
  [[nodiscard]] instant on(timing::now const&) { return now(); }
  void on(timing::sleep_until& s) { sleep(s.who, s.until); }
  void on(timing::sleep_for& s);
  [[nodiscard]] mailbox_registry* on(mail::open const&) { return &this->registry(); }
  [[nodiscard]] std::coroutine_handle<> on(mail::send const& m);
  [[nodiscard]] std::coroutine_handle<> on(mail::send_until const& m);
  [[nodiscard]] std::coroutine_handle<> on(mail::receive const& m);
  [[nodiscard]] own_route on(routing::open const&) { return {&this->registry(), running().id()}; }
  [[nodiscard]] std::coroutine_handle<> on(routing::send const& m);
  [[nodiscard]] std::coroutine_handle<> on(routing::send_until const& m);
  template <class Start>
    requires requires(Start& s) { s.what->is_forkable(); }
  process_id on(Start& start);  // of a spawning<...>
  /// The same; the others go first.
  template <class Start>
  void begin_and_yield(Start& start);
  /// The same where there is room for so many (scheduling_room.hpp): room has been taken; or it is
  /// waited for, and who spawns, which is stopped, goes on in its turn.
  process_id begin_in_room(spawn_request& b);
  void begin_when_there_is_room(spawn_request& b);
  /// Answers what can be answered at once; else says false.
  [[nodiscard]] bool attempt(mail::send const& m, result_slot<bool>& waiting);
  [[nodiscard]] bool attempt(mail::send_until const& m, result_slot<std::uint64_t>& waiting);
  [[nodiscard]] bool attempt(mail::receive const& m, result_slot<std::uint64_t>& waiting);
  [[nodiscard]] bool attempt(routing::send const& m, result_slot<bool>& waiting);
  [[nodiscard]] bool attempt(routing::send_until const& m, result_slot<std::uint64_t>& waiting);

  using task_service<scheduling>::on;

  // ---- from ordinary code

  template <class Program>
  void start(Program program, start_options how);
  /// From any thread, by who has come in (submission_gate.hpp).
  process_id submit(coming_in& in, first_frame first);
  bool step();
  void run();

  [[nodiscard]] typename Backend::worker& worker() noexcept {
    if constexpr (on_several_threads)
      return static_cast<seat&>(*desk::of_thread).worker;
    else
      return *worker_;
  }
  [[nodiscard]] Backend& base() noexcept { return *backend_; }

  /// On this thread.
  [[nodiscard]] bool is_running() noexcept { return scheduling_base::here().running != nullptr; }
  [[nodiscard]] process& running() noexcept { return *here().running; }
  [[nodiscard]] bool can_be_kept() const noexcept {
    return own_.unforkable + this->born_outside() == 0 && !this->somebody_waits_anywhere();
  }
  [[nodiscard]] std::string why_not_kept();
  [[nodiscard]] instant virtual_time() const noexcept { return virtual_now_; }
  /// Those that there are go, and these come instead: all of them can be run again.
  template <class Queue>
  void start_over(Queue ready, std::size_t alive, instant time,
                  std::vector<exceptions::failure> failures);

  // ---- as a prompt

  continuation finished(process& p) noexcept override;
  continuation finished_somehow(process& p) noexcept;
  std::coroutine_handle<> wait_for_rest(end_of_clause& at) noexcept override {
    return is_running() ? this->wait_at(at) : nullptr;
  }
  std::coroutine_handle<> end_diverged(std::coroutine_handle<> leaf, site const& at) override;
  /// The scheduler is over: so is everyone.
  void end() noexcept;

  // ---- for the clauses

  /// Notes where the process will wait.  The frame to go on with, if it has diverged.
  template <class O>
  std::coroutine_handle<> before_recording(O const& o, std::coroutine_handle<> leaf,
                                           std::source_location where);
  [[noreturn]] static void throw_has_no_log(site const& at);
  [[noreturn]] static void throw_stays_where_it_is(site const& at);
  /// The process that runs can be run again no more.
  void seal(site const& at);
  /// Where schedules are explored.
  void asks_its_groups(process const& p) const noexcept;
  /// Whether an operation on something shared is a step of its own, and this one has not begun.
  [[nodiscard]] bool lets_others_first() noexcept;
  /// False if ordinary code stands in between.
  template <class O>
  [[nodiscard]] bool stop_before(O const& o, std::coroutine_handle<> leaf,
                                 result_slot_base& waiting);
  void put_pending(pending_operation const& o) noexcept;
  /// Whether a task has been begun.
  [[nodiscard]] bool has_had_tasks() const noexcept { return explores && this->has_tasks_; }
  /// Whether the process that runs has events that have not taken effect.
  [[nodiscard]] bool has_events() noexcept;
  void apply_own_events() noexcept;
  /// The process that runs has ended: whether its end is put off.
  [[nodiscard]] bool defers_end(deferred_events::end e) noexcept;
  [[nodiscard]] process* process_with_deferred_events() noexcept;

  /// The process that runs is stopped at an operation, and is to end instead.
  [[nodiscard]] std::coroutine_handle<> refuse(process& p) noexcept {
    p.must_be_told();
    return next_unless_over(&p, 0);
  }
  void exit(process& p) noexcept;
  /// It has ended, or is to: that is its error, null if there is none.  Its count is dropped.
  void bury(process* p, std::exception_ptr error) noexcept;
  void bury_failed(process* p, std::exception_ptr error) noexcept;

  [[nodiscard]] std::coroutine_handle<> next() noexcept;
  /// Whether who spawns is to wait its turn.
  [[nodiscard]] bool is_crowded() noexcept;
  [[nodiscard]] bool can_exchange() noexcept;
  [[nodiscard]] std::coroutine_handle<> exchange(operation_info const& operation,
                                                 std::coroutine_handle<> leaf,
                                                 result_slot_base& waiting) noexcept;

 private:
  /// Where a thread of several sits.
  struct seat : desk {
    seat(scheduling& s, unsigned index) : desk(s), worker(*s.backend_, index) {}
    typename Backend::worker worker;
  };
  /// What the clauses of a process that runs look at.
  [[nodiscard]] desk& here() noexcept {
    if constexpr (on_several_threads)
      return *desk::of_thread;
    else
      return own_;
  }

  class stopping;
  void stop_all() noexcept;

  // ---- births and deaths

  [[nodiscard]] process* new_process(process_id id, first_frame first);
  [[nodiscard]] process* new_process(process_id id, class program* p);
  [[nodiscard]] process* new_process(process_id id, first_frame first, void* evidence);
  [[nodiscard]] process* new_process(spawn_request& b);
  [[nodiscard]] process* new_process_outside(process_id id, first_frame first) override {
    return new_process(id, first, this->known_.look_up_outside(*first.row));
  }
  using in_line = admission::in_line;
  void fork_when_there_is_room(forkable_process& p);
  [[nodiscard]] std::unique_ptr<in_line> place_in_line();
  void line_up(std::unique_ptr<in_line> line) noexcept;
  void begin_with(in_line& l, put_reason w) noexcept;
  void come_in(in_line& l) noexcept override { begin_with(l, put_reason::woken); }

  void run(errand e) noexcept override;
  void begin(process* p, bool keeps_log) noexcept;

  // ---- who runs next (scheduling_next.hpp)

  void put(thunk&& t, put_reason w) noexcept;
  void was_not_put(thunk& t) noexcept;
  void make_ready(thunk t) noexcept override { put(std::move(t), put_reason::woken); }
  void put_from_outside(thunk& t) override { backend_->put(std::move(t), put_reason::woken); }
  void put_from_outside(thunk& t, spare_node in) override {
    put_from_outside(t, put_reason::woken, std::move(in));
  }
  void put_from_outside(thunk& t, put_reason w, [[maybe_unused]] spare_node in) {
    if constexpr (reserving_backend<Backend>)
      backend_->put(std::move(t), w, std::move(in));
    else
      backend_->put(std::move(t), w);
  }
  [[nodiscard]] spare_node reserve_put() override {
    if constexpr (reserving_backend<Backend>)
      return backend_->reserve();
    else
      return {};
  }
  /// The process that runs is boxed with its answer: no longer ours, and next() says who is.
  [[nodiscard]] thunk box(std::uint64_t answer = 0) noexcept {
    return thunk(here().running, answer);
  }
  [[nodiscard]] thunk take() noexcept;
  [[nodiscard]] std::coroutine_handle<> go_on(process* p, std::uint64_t answer) noexcept;
  /// What is due has to be looked for.
  [[nodiscard]] bool must_keep_time() const noexcept { return !this->timers_.empty(); }
  thunk take_in_time() noexcept;
  [[nodiscard]] std::coroutine_handle<> nobody(thunk::reason why) noexcept;
  thunk take_with_care() noexcept;
  std::coroutine_handle<> next_with_care() noexcept;
  std::coroutine_handle<> next_unless_over(process* p, std::uint64_t answer) noexcept;
  std::coroutine_handle<> prepare(process* p, std::uint64_t answer) noexcept;
  void note_if_sealed(forkable_process& p) noexcept;
  void prepare_log(forkable_process& p, std::uint64_t answer);
  [[nodiscard]] pending_operation take_pending(process& p) noexcept;
  [[nodiscard]] bool does_what_comes_first(process* p, std::uint64_t answer) noexcept;
  void ends_now(deferred_events::end e) noexcept;
  void apply_all_deferred() noexcept;
  void drop_pending() noexcept;
  forkable_process* owned(forkable_process* p);
  bool settle();
  void run_one_round();
  void run_here();
  void run_on_threads();
  void sit_and_run(unsigned index) noexcept;

  /// Where schedules are explored nothing comes from outside: who waits for it waits for a process.
  [[nodiscard]] quiescence_test quiescence() const noexcept {
    return explores ? quiescence_test() : this->quiescence_outside();
  }

  // ---- waiting (scheduling_waits.hpp), mail (scheduling_mail.hpp)

  void on_wait_begin(process& p) noexcept {
    if constexpr (on_several_threads) worker().on_wait_begin(p);
  }
  void waits(process& p, wait_kind what = wait_kind::other) noexcept {
    if constexpr (on_several_threads) worker().on_waiting(p, what);
  }
  void goes_on(process& p) noexcept {
    if constexpr (on_several_threads) worker().on_wait_cancelled(p);
  }
  void ends(process& p) noexcept;
  template <class Enter>
  void wait(waiter& who, Enter enter);
  void sleep(waiter& who, alarm& until);
  [[nodiscard]] bool set(alarm& a);
  [[nodiscard]] instant now() noexcept;
  [[nodiscard]] instant later(instant::duration d) noexcept;
  [[nodiscard]] bool time_goes_on() noexcept;
  void wake_who_is_due() noexcept;
  [[nodiscard]] bool can_hand_over() noexcept;
  [[nodiscard]] bool lets_receiver_first() noexcept;
  [[nodiscard]] std::coroutine_handle<> hand_over(mailbox::receives to) noexcept;
  void put_receiver(mailbox::receives r) noexcept;
  void put_admitted(process* p) noexcept;
  [[nodiscard]] bool finds(routed_send_waiter& s) noexcept;
  void require_ours(mailbox const& b) const;
  [[noreturn]] static void throw_not_ours();
  [[nodiscard]] std::optional<std::uint64_t> receive_now(mail::receive const& m);
  [[nodiscard]] std::optional<std::uint64_t> receive_now_of_several(mail::receive const& m);

  // ---- evidence

  template <class F, class Find>
  void learn_effect(identity<F>, Find& find);
  template <class R>
  R* own(std::unique_ptr<R> r);
  void end_evidence() noexcept override;

  std::optional<Backend> backend_;                  // until the end: it may hold processes
  std::optional<typename Backend::worker> worker_;  // on one thread
  std::size_t log_limit_ = 0;
  std::stop_token token_;
  instant virtual_now_{};
  bool stop_asked_ = false;
  static constexpr header_layout const& header = header_layout_for<Backend>();
  class program* first_ = nullptr;  // of a first process without a log
  result_slot<void> sink_;          // where a process that has not started waits for its answer
  std::pmr::vector<std::unique_ptr<recorder_base>> ours_{this->known_.memory()};
};

}  // namespace weft::detail

#include "sched/runtime/detail/deadlock_report.hpp"
#include "sched/runtime/detail/scheduling_begin.hpp"
#include "sched/runtime/detail/scheduling_explored.hpp"
#include "sched/runtime/detail/scheduling_mail.hpp"
#include "sched/runtime/detail/scheduling_next.hpp"
#include "sched/runtime/detail/scheduling_offers.hpp"
#include "sched/runtime/detail/scheduling_rare.hpp"
#include "sched/runtime/detail/scheduling_room.hpp"
#include "sched/runtime/detail/scheduling_scopes.hpp"
#include "sched/runtime/detail/scheduling_task_clauses.hpp"
#include "sched/runtime/detail/scheduling_tasks.hpp"
#include "sched/runtime/detail/scheduling_threads.hpp"
#include "sched/runtime/detail/scheduling_unwinding.hpp"
#include "sched/runtime/detail/scheduling_waits.hpp"
#include "sched/runtime/detail/task_tree.hpp"
