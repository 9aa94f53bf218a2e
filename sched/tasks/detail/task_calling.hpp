// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/detail/parameters.hpp"
#include "weft/sched/base/detail/program.hpp"
#include "weft/sched/tasks/detail/scope_core.hpp"

/// Tasks that call a function with arguments, and the list of the tasks of a handle.
namespace weft::detail {

template <class R>
struct task_value : identity<R> {
  using effects = row<>;
  static constexpr bool is_computation = false;
};
template <is_eff R>
struct task_value<R> : identity<typename R::value_type> {
  using effects = typename R::effects;
  static constexpr bool is_computation = true;
};

/// A task with a value of type `T`.
template <class T>
class task_giving : public task_record, public pooled {
 public:
  [[nodiscard]] std::exception_ptr error() const noexcept override { return given_.error(); }
  /// The answer of the task; read when the task has ended.
  [[nodiscard]] result_slot<T>& given() noexcept { return given_; }

 protected:
  task_giving(bool with_handle, bool in_a_scope) noexcept : task_record(with_handle, in_a_scope) {}
  result_slot<T> given_;
};

template <class F, class Tuple>
auto call_in_frame(F& f, Tuple& args) -> eff<decltype(std::apply(std::move(f), std::move(args)))> {
  co_return std::apply(std::move(f), std::move(args));
}

/// A task that calls the function `f` with the arguments, all of which it keeps.
template <class F, class... Args>
class task_calling final
    : public task_giving<typename task_value<std::invoke_result_t<F, Args...>>::type> {
  using result = task_value<std::invoke_result_t<F, Args...>>;
  using base = task_giving<typename result::type>;

 public:
  using value_type = typename result::type;
  using effects = typename result::effects;

  template <class... As>
  task_calling(scope_core* s, bool with_handle, F f, As&&... args)
      : base(with_handle, s != nullptr), f_(std::move(f)), args_(std::forward<As>(args)...) {
    this->group = s;
    auto const frame = call(std::index_sequence_for<Args...>()).release(internal());
    frame.promise().to = &this->given_;
    this->prepare({frame, &row_info_of<typename result::effects>::value});
  }
  void destroy() noexcept override { delete this; }

 private:
  template <std::size_t... I>
  auto call(std::index_sequence<I...>) {
    if constexpr (result::is_computation) {
      static_cast<void>(require_no_temporaries<F, Args...>());
      return std::invoke(f_, std::move(std::get<I>(args_))...);
    } else {
      return call_in_frame(f_, args_);
    }
  }

  [[no_unique_address]] F f_;
  [[no_unique_address]] std::tuple<Args...> args_;
};

/// The tasks of a handle, in the order in which they were started.
class tasks_of_handle {
 public:
  tasks_of_handle() = default;
  tasks_of_handle(tasks_of_handle&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)),
        last_(std::exchange(other.last_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  tasks_of_handle& operator=(tasks_of_handle other) noexcept {
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~tasks_of_handle() { clear(); }

  void add(task_record& r) noexcept {
    (last_ ? last_->next : first_) = &r;
    last_ = &r;
    ++size_;
  }
  void clear() noexcept {
    for (waitable_task* t = std::exchange(first_, nullptr); t;) {
      auto* const r = static_cast<task_record*>(std::exchange(t, t->next));
      if (r->group)
        r->drop_handle();
      else  // an event: afterwards no process can wait for the task's error
        cause_event("the end of a handle", nullptr, [r] { r->drop_handle(); });
    }
    last_ = nullptr;
    size_ = 0;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] waitable_task* first() const noexcept { return first_; }
  [[nodiscard]] bool have_ended() const noexcept {
    for (auto* t = first_; t; t = t->next)
      if (!t->has_ended()) return false;
    return true;
  }
  template <class F>
  void for_each(F f) const {
    for (auto* t = first_; t; t = t->next) f(static_cast<task_record&>(*t));
  }
  /// Throws the errors of the tasks, all of which have ended.
  void throw_errors() const {
    bool is_well = true;
    for_each([&](task_record& r) {
      // This location stands for the end of the task, and for was_awaited.
      note_access(static_cast<waitable_task*>(&r), true);
      r.was_awaited.store(true, std::memory_order_relaxed);  // relaxed: a flag, publishes no data
      is_well &= r.fate_of_run() == any_task::fate::ends && !r.has_failed();
    });
    if (is_well) [[likely]]
      return;
    throw_errors_slow();
  }

 private:
  [[gnu::cold]] void throw_errors_slow() const;

  waitable_task* first_ = nullptr;
  waitable_task* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weft::detail
