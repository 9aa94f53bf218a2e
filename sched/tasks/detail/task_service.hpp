// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <concepts>
#include <coroutine>
#include <cstdint>

#include "sched/base/backend.hpp"
#include "sched/tasks/detail/scope_core.hpp"

/// What a scheduler `S`, scheduling<...>, does for processes that have tasks.
namespace weft::detail {

template <class S>
class rest_of_clause;

template <class S>
class task_service : public scope_runner {
  friend class rest_of_clause<S>;

 public:
  // ---- of a process that can be stopped: who goes on

  /// It stands where others can be called, whatever they do (TASK-1).
  [[nodiscard]] bool can_call() noexcept {
    return lazy_backend<typename S::backend_type> && prompt::innermost() == &self() &&
           !keeps_log(self().running());
  }
  /// Of who can.
  [[nodiscard]] std::coroutine_handle<> do_all(join& j);
  /// Of who cannot, which is_begun_by() says first; or when there is more to do than to offer them.
  [[nodiscard]] std::coroutine_handle<> do_all_rarely(join& j, bool can_call);
  void is_begun_by(process& p, join& j) noexcept;
  [[nodiscard]] std::coroutine_handle<> enters(scope_core& s, std::coroutine_handle<> leaf,
                                               result_slot<void>& waiting,
                                               operation_info const& operation) noexcept;
  std::coroutine_handle<> leaves(scope_core& s) {
    note_access(&s.count, true);                             // also of body_is_open
    s.body_is_open.store(false, std::memory_order_release);  // [2] of scope_core.hpp
    return leave_on(s).resolve();
  }
  /// Nobody runs any more.
  void is_dropped_at_the_end(scope_core& s, process& p) noexcept { owner_is_dropped(s, p); }
  /// A frame that waits for what a clause has dropped; then it goes on there.
  [[nodiscard]] std::coroutine_handle<> wait_at(end_of_clause& at) noexcept;
  /// Null if it is not done as a call.
  [[nodiscard]] std::coroutine_handle<> call(task_wait& w) noexcept;
  template <class Await>
    requires requires(Await& a) { a.how.first; }
  void on(Await& a);
  template <class Start>
    requires std::same_as<decltype(Start::what), task_record*>
  void on(Start& s) {
    start(*s.what);
  }

 protected:
  ~task_service() = default;

  std::atomic<bool> must_ask_ = false;  // CANCEL-7
  bool has_tasks_ = false;              // where schedules are explored: or had
  bool is_ending_ = false;              // nobody runs any more: those that there are are unwound

 private:
  [[nodiscard]] S& self() noexcept { return static_cast<S&>(*this); }

  /// Whether who stands there is to end, and so does not do what it would do next.
  [[nodiscard]] bool is_to_stop_at(continuation at) noexcept {
    if (!self().must_look_up() || !self().is_to_end_at(at)) return false;
    if (self().is_cancelling()) self().cancels_somebody();
    return true;
  }

  // ---- giving way (TASK-6)

  static constexpr std::uint32_t tasks_to_look = 1024;
  /// Of `count` tasks that a process begins, the last of which has that number.
  [[nodiscard]] static constexpr bool is_time_to_look(std::uint32_t last,
                                                      std::uint32_t count) noexcept {
    return last % tasks_to_look < count;
  }
  [[nodiscard]] bool gives_way(std::uint32_t last, std::uint32_t count) noexcept;
  [[nodiscard]] std::coroutine_handle<> give_way(std::coroutine_handle<> frame,
                                                 result_slot_base& waiting,
                                                 operation_info const& operation) noexcept;

  // ---- cancelling (scheduling_tasks.hpp)

 protected:
  /// Before a worker looks for who is next, while there is something to look up.
  void asks_if_due() noexcept;

 private:
  [[nodiscard]] bool asks_later() noexcept;
  void ask_all_who_wait() noexcept;

  // ---- those that are waited for together (scheduling_offers.hpp, scheduling_tasks.hpp)

  [[nodiscard]] std::coroutine_handle<> do_many(join& j, void* evidence);
  template <class Others>
  [[nodiscard]] std::coroutine_handle<> offer_and_do(join& j, void* evidence, Others others);
  [[nodiscard]] std::coroutine_handle<> tell(task& first) noexcept;
  void offer_all_but_first(join& j) noexcept;
  void put_back(lazy_task& o) noexcept;
  [[nodiscard]] std::coroutine_handle<> begin_everywhere(join& j);
  [[nodiscard]] thunk begin_task(any_task& t, process_id id) noexcept override;
  continuation task_ended(task& t) noexcept override;
  continuation task_dropped(task& t) noexcept override;
  void task_unwinds(task& t, suspension& h) noexcept override;
  void task_is_over(task& t) noexcept override { ends_elsewhere(t.of()); }
  [[nodiscard]] continuation task_ended_rarely(task& t) noexcept;
  void ends_elsewhere(join& j) noexcept;
  [[nodiscard]] continuation next_of(join& j) noexcept;
  [[nodiscard]] continuation is_taken(join& j, lazy_task* newest) noexcept;
  [[nodiscard]] continuation rest_of(join& j, bool goes_on) noexcept;
  [[nodiscard]] continuation wait_for_rest(join& j) noexcept;

  template <class Task>
  [[nodiscard]] bool task_ends_later(Task& t, bool is_a_step) noexcept;
  void ends_later(task& t) noexcept;
  void ends_later(task_record& r) noexcept { task_is_over(r); }

  void start(task_record& r) override;
  continuation task_ended(task_record& r) noexcept override;
  continuation task_dropped(task_record& r) noexcept override;
  void task_unwinds(task_record& r, suspension& h) noexcept override;
  void scope_unwinds(scope_core& s, suspension& h) noexcept override;
  void task_is_over(task_record& r) noexcept override;
  void has_not_ended_well(task_record& r, scope_core& s) noexcept;
  void is_nobodys(task_record& r) noexcept override;
  void is_opened(scope_core& s, process& owner, std::coroutine_handle<> leaf) noexcept;
  void one_has_ended(scope_core& s) noexcept;
  void scope_is_over(scope_core& s) noexcept;
  void owner_is_dropped(scope_core& s, process& p) noexcept;
  [[nodiscard]] std::coroutine_handle<> is_told(std::coroutine_handle<> leaf,
                                                result_slot_base& waiting,
                                                operation_info const& operation) noexcept;
  [[nodiscard]] bool waits_on(scope_core& s, bool by_owner) noexcept;
  void looks_again(scope_core& s, process& owner) noexcept;
  [[nodiscard]] continuation leave_on(scope_core& s) noexcept;
  [[nodiscard]] continuation awaits_on(task_wait& w) noexcept;
  void cancel(task_group& g) noexcept override;
  [[nodiscard]] bool is_cancelled_now(task_group& g) noexcept;
  void cancel_with_owner(task_group& g) noexcept;

  // ---- where one thread runs all processes (task_tree.hpp)

  void is_hosted_now(any_task& t) noexcept;
  void is_hosted_no_more(any_task& t) noexcept;
  [[nodiscard]] process* take(process const& p) noexcept;
  [[nodiscard]] bool cancel_inside(task_group& g) noexcept;

  void on_group_end(task_group& g) noexcept override;
  static void go_on_unwinding(task_group& g) noexcept;
  [[noreturn]] static void throw_no_process_here();
};

}  // namespace weft::detail
