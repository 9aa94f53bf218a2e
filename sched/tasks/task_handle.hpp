// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/detail/internal.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"
#include "weft/sched/tasks/detail/task_calling.hpp"
#include "weft/sched/tasks/tasking.hpp"

namespace weft {

template <class T>
class task_handle;

namespace detail {

/// The awaitable for the result of a handle.  `Finish` computes the result from the handle.
template <class Handle, class Finish>
class handle_wait {
 public:
  static constexpr bool row_aware_operation = true;
  using result = std::invoke_result_t<Finish&, Handle&>;
  handle_wait(Handle& h, Finish f) noexcept : handle_(h), finish_(f) {}
  template <class Row>
  auto operation_in() {
    if constexpr (may_start<Row>())
      return typename tasking_in<Row>::type::await(handle_.tasks(internal()).first());
    else
      return refused<void>();
  }
  decltype(auto) finish() { return finish_(handle_); }

 private:
  Handle& handle_;
  [[no_unique_address]] Finish finish_;
};
template <class Handle>
class timed_handle_wait {
 public:
  static constexpr bool row_aware_operation = true;
  using result = bool;
  timed_handle_wait(Handle& h, instant t) noexcept : handle_(h), until_(t) {}
  timed_handle_wait(Handle& h, time_span d) noexcept : handle_(h), time_(d) {}
  template <class Row>
  auto operation_in() {
    if constexpr (may_start<Row>())
      return typename tasking_in<Row>::type::await_until(handle_.tasks(internal()).first(), until_,
                                                         time_);
    else
      return refused<bool>();
  }

 private:
  Handle& handle_;
  instant until_{};
  std::optional<time_span> time_;
};

/// The awaitable of start_task(...), for a task with the row `Row`.  Stores the task in a handle,
/// or yields a new handle.
template <class Row, class Handle>
class start_awaitable {
 public:
  static constexpr bool row_aware_operation = true;
  using result = std::conditional_t<std::is_reference_v<Handle>, void, std::remove_cvref_t<Handle>>;
  start_awaitable(Handle&& to, task_record& made) noexcept
      : to_(std::forward<Handle>(to)), made_(&made) {}
  start_awaitable(start_awaitable const&) = delete;
  start_awaitable& operator=(start_awaitable const&) = delete;
  ~start_awaitable() {
    if (made_) made_->destroy();
  }

  template <class Caller>
  auto operation_in() {
    if constexpr (may_start<Caller, Row>())
      return typename tasking_in<Caller>::type::start(*made_);
    else
      return refused<void>();
  }
  auto finish() {
    to_.tasks(internal()).add(*std::exchange(made_, nullptr));
    if constexpr (!std::is_reference_v<Handle>) return std::move(to_);
  }

 private:
  Handle to_;
  task_record* made_;
};

template <class T>
constexpr bool is_reference_wrapper = false;
template <class T>
constexpr bool is_reference_wrapper<std::reference_wrapper<T>> = true;
/// Whether a `T` refers to objects that it does not own, as far as its type tells.  <span> declares
/// enable_view and enable_borrowed_range, and is cheaper to include than <ranges>.
template <class T>
constexpr bool borrows = (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) ||
                         is_reference_wrapper<T> ||
                         (std::ranges::enable_view<T> && std::ranges::enable_borrowed_range<T>);
/// Whether a function may refer to objects that it does not own: one with captures may.
template <class F>
constexpr bool borrows_by_capture =
    !std::is_empty_v<F> && !std::is_pointer_v<F> && !std::is_member_pointer_v<F>;

/// Refuses a task whose function cannot be called with its arguments.
template <class F, class... Args>
consteval bool is_callable_task() {
  constexpr bool is_callable = std::invocable<F, std::decay_t<Args>...>;
  static_assert(is_callable,
                "weft: a task is started with a function and its arguments, which are copied or "
                "moved: not with its result; a reference goes as std::ref(x)");
  return is_callable;
}
/// Refuses a task without a scope whose function or arguments borrow.
template <class F, class... Args>
consteval bool may_go_on_alone() {
  constexpr bool owns_all = !borrows_by_capture<F> && !(borrows<Args> || ...);
  static_assert(owns_all,
                "weft: a task that may outlive this function borrows: open a scope, or pass what "
                "it needs as arguments by value");
  return owns_all;
}

/// Throws std::logic_error: a handle of `n` tasks was awaited for the result of one.
[[noreturn, gnu::cold]] void throw_not_one_task(std::size_t n);

template <class T>
using all_values = std::conditional_t<std::is_void_v<T>, void, std::vector<T>>;

}  // namespace detail

/// The results of tasks: of one, or of several that were started with the handle, one after the
/// other.
///
///     task_handle<int> h;
///     s.start(h, f);            // in a scope, or without one: co_await start_task(h, f)
///     int const n = co_await h;
///
/// Waiting suspends the process, not its thread; it costs one load for each task that has ended
/// already.  An exception of a task is thrown to the waiter; if several failed, `exceptions` holds
/// all of them.  Several processes may wait for one handle at once; while a process adds to it, or
/// takes from it, no other process may use it.  If a handle is destroyed before its tasks have
/// ended, they go on.
///
/// Moving and starting are O(1), clearing is O(n) in the tasks.  The handle allocates nothing,
/// except that all() makes a vector.  Row: `tasking<...>`.
template <class T>
class task_handle {
 public:
  static constexpr bool row_aware_operation = true;
  static constexpr bool may_be_awaited_again = true;

  task_handle() = default;
  task_handle(task_handle&&) noexcept = default;
  task_handle& operator=(task_handle&&) noexcept = default;

  /// The number of tasks that were started with the handle since it was made, cleared or taken
  /// from.
  [[nodiscard]] std::size_t size() const noexcept { return tasks_.size(); }
  /// Whether all tasks have ended.  O(n).
  [[nodiscard]] bool have_ended() const noexcept { return tasks_.have_ended(); }
  /// Forgets its tasks, which go on.
  void clear() noexcept { tasks_.clear(); }

  /// `co_await h` yields the value of its task, which stays in the handle.  If T is void it yields
  /// nothing, and the handle may have any number of tasks.  Throws std::logic_error if T is not
  /// void and the handle has not exactly one task.
  template <class Row>
  auto operation_in() {
    if constexpr (detail::may_start<Row>())
      return typename detail::tasking_in<Row>::type::await(tasks_.first());
    else
      return detail::refused<void>();
  }
  /// Returns a reference to the value; the awaiter yields a copy.
  decltype(auto) finish() {
    tasks_.throw_errors();
    if constexpr (!std::is_void_v<T>) return *the_one().given().value();
  }
  /// `co_await h.take()` yields what `co_await h` does, but moves the value out; the handle is then
  /// empty.
  [[nodiscard("weft: co_await it")]] awaits_to<T> auto take() noexcept {
    return detail::handle_wait(*this, [](task_handle& h) {
      task_handle now(std::move(h));
      now.tasks_.throw_errors();
      if constexpr (!std::is_void_v<T>) return T(std::move(*now.the_one().given().value()));
    });
  }
  /// `co_await h.all()` yields the values of all its tasks, in the order in which they were
  /// started; the handle is then empty.  Yields nothing if T is void.  O(n); allocates the vector.
  [[nodiscard("weft: co_await it")]] awaits_to<detail::all_values<T>> auto all() noexcept {
    return detail::handle_wait(*this, [](task_handle& h) {
      task_handle now(std::move(h));
      now.tasks_.throw_errors();
      if constexpr (!std::is_void_v<T>) {
        std::vector<T> values;
        values.reserve(now.size());
        now.tasks_.for_each([&](detail::task_record& r) {
          values.push_back(std::move(*static_cast<detail::task_giving<T>&>(r).given().value()));
        });
        return values;
      }
    });
  }
  /// `co_await h.wait_until(t)`, `co_await h.wait_for(d)`: yields whether all tasks have ended by
  /// `t`, or within `d`.  Throws no exception of the tasks.
  [[nodiscard("weft: co_await it")]] awaits_to<bool> auto wait_until(instant t) noexcept {
    return detail::timed_handle_wait<task_handle>(*this, t);
  }
  [[nodiscard("weft: co_await it")]] awaits_to<bool> auto wait_for(time_span d) noexcept {
    return detail::timed_handle_wait<task_handle>(*this, d);
  }

  [[nodiscard]] detail::tasks_of_handle& tasks(detail::internal) noexcept { return tasks_; }

 private:
  [[nodiscard]] detail::task_giving<T>& the_one() const {
    if (tasks_.size() != 1) [[unlikely]]
      detail::throw_not_one_task(tasks_.size());
    return static_cast<detail::task_giving<T>&>(*static_cast<detail::task_record*>(tasks_.first()));
  }

  detail::tasks_of_handle tasks_;
};

/// `co_await start_task(h, f, args...)`: starts `f(args...)` in no scope, so the task may outlive
/// the process that starts it.  `f` is a function, or a closure without captures, that returns a T
/// or an eff<T, ...>; its arguments are copied or moved, and must not refer to other objects.
/// Row: `tasking<...>` with the effects of the task.  Allocates a block and a frame, both from a
/// pool.
///
/// An exception of the task is thrown to the process that waits for it.  If no process has waited
/// and the handle is destroyed, the exception counts as that of a process: all processes are
/// cancelled, and schedule throws it.  Throws bad_alloc, and what calling `f` throws if it is a
/// coroutine.
template <class T, class F, class... Args>
[[nodiscard("weft: co_await it")]] awaits_to<void> auto start_task(task_handle<T>& h, F f,
                                                                   Args&&... args) {
  if constexpr (detail::may_go_on_alone<F, std::decay_t<Args>...>() &&
                detail::require_kept<Args...>()) {
    using made = detail::task_calling<F, std::decay_t<Args>...>;
    return detail::start_awaitable<typename made::effects, task_handle<T>&>(
        h, *new made(nullptr, true, std::move(f), std::forward<Args>(args)...));
  } else {
    return detail::refused<void>();
  }
}
/// Starts a task as start_task(h, f, args...) does; `co_await` yields the handle, a
/// `task_handle<T>`.  Allocates, and throws, as that overload does.
template <class F, class... Args>
[[nodiscard("weft: co_await it")]] awaits_to<
    task_handle<detail::awaited_call_t<F, std::decay_t<Args>...>>> auto
start_task(F f, Args&&... args) {
  if constexpr (detail::may_go_on_alone<F, std::decay_t<Args>...>() &&
                detail::require_kept<Args...>()) {
    using made = detail::task_calling<F, std::decay_t<Args>...>;
    return detail::start_awaitable<typename made::effects, task_handle<typename made::value_type>>(
        {}, *new made(nullptr, true, std::move(f), std::forward<Args>(args)...));
  } else {
    return detail::refused<void>();
  }
}

}  // namespace weft
