// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "effects/eff.hpp"
#include "effects/handle.hpp"
#include "sched/tasks/detail/task_calling.hpp"
#include "sched/tasks/tasking.hpp"

namespace weft {

template <class T>
class task_handle;

namespace detail {

/// `co_await` of what a handle gives: `Finish` says how.
template <class Handle, class Finish>
class handle_wait {
 public:
  static constexpr bool finds_its_effect = true;
  handle_wait(Handle& h, Finish f) noexcept : handle_(h), finish_(f) {}
  template <class Row>
  auto operation_in() {
    if constexpr (may_start<Row>())
      return typename tasking_in<Row>::type::await(handle_.tasks().first());
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
  static constexpr bool finds_its_effect = true;
  timed_handle_wait(Handle& h, instant t) noexcept : handle_(h), until_(t) {}
  timed_handle_wait(Handle& h, instant::duration d) noexcept : handle_(h), time_(d) {}
  template <class Row>
  auto operation_in() {
    if constexpr (may_start<Row>())
      return typename tasking_in<Row>::type::await_until(handle_.tasks().first(), until_, time_);
    else
      return refused<bool>();
  }

 private:
  Handle& handle_;
  instant until_{};
  std::optional<instant::duration> time_;
};

/// `co_await start_task(...)`, of a task with that row: its handle is had, or given.
template <class Row, class Handle>
class starts_task {
 public:
  static constexpr bool finds_its_effect = true;
  starts_task(Handle&& to, task_record& made) noexcept
      : to_(std::forward<Handle>(to)), made_(&made) {}
  starts_task(starts_task const&) = delete;
  starts_task& operator=(starts_task const&) = delete;
  ~starts_task() {
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
    to_.tasks().add(*std::exchange(made_, nullptr));
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
/// Whether a `T` refers to what is somebody else's, as far as its type says.
template <class T>
constexpr bool borrows =
    (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) ||
    is_reference_wrapper<T> || (std::ranges::view<T> && std::ranges::borrowed_range<T>);
/// The same of a function: one with captures may.
template <class F>
constexpr bool borrows_by_capture =
    !std::is_empty_v<F> && !std::is_pointer_v<F> && !std::is_member_pointer_v<F>;

/// Speaks for what is started outside of a scope.
template <class F, class... Args>
consteval bool may_go_on_alone() {
  constexpr bool owns_all = !borrows_by_capture<F> && !(borrows<Args> || ...);
  static_assert(owns_all,
                "weft: a task that may outlive this function borrows: open a scope, or pass what "
                "it needs as arguments by value");
  return owns_all;
}

}  // namespace detail

/// What became of tasks: of one, or of several that were started with it, one after the other.
///
///     task_handle<int> h;
///     s.start(h, f);            // in a scope, or without one: co_await start_task(h, f)
///     int const n = co_await h;
///
/// Whoever waits is suspended, no thread; what has ended already costs a load for each.  What they
/// threw is thrown there: of several that failed `exceptions`.  Several processes may wait for one
/// handle; who adds to it, or takes from it, is alone with it.  If a handle goes before its tasks,
/// they go on.
///
/// Moving and starting are O(1), dropping is O(tasks); nothing here allocates.
template <class T>
class task_handle {
 public:
  static constexpr bool finds_its_effect = true;
  static constexpr bool may_be_awaited_again = true;

  task_handle() = default;
  task_handle(task_handle&&) noexcept = default;
  task_handle& operator=(task_handle&&) noexcept = default;

  /// How many tasks were started with it, since it was made, cleared or taken from.
  [[nodiscard]] std::size_t size() const noexcept { return tasks_.size(); }
  /// All have ended.
  [[nodiscard]] bool have_ended() const noexcept { return tasks_.have_ended(); }
  /// It knows them no more.
  void clear() noexcept { tasks_.clear(); }

  /// `co_await h`: what its task gave, which stays there; nothing, if T is void: then there may be
  /// any number.  Throws std::logic_error if it is not one.
  template <class Row>
  auto operation_in() {
    if constexpr (detail::may_start<Row>())
      return typename detail::tasking_in<Row>::type::await(tasks_.first());
    else
      return detail::refused<void>();
  }
  decltype(auto) finish() {
    tasks_.throw_errors();
    if constexpr (!std::is_void_v<T>) return *the_one().given().value();
  }
  /// `co_await h.take()`: the same, moved out; then the handle is as new.
  [[nodiscard]] auto take() noexcept {
    return detail::handle_wait(*this, [](task_handle& h) {
      task_handle now(std::move(h));
      now.tasks_.throw_errors();
      if constexpr (!std::is_void_v<T>) return T(std::move(*now.the_one().given().value()));
    });
  }
  /// `co_await h.all()`: what all of them gave, in the order in which they were started; then the
  /// handle is as new.  Nothing, if T is void.
  [[nodiscard]] auto all() noexcept {
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
  /// `co_await h.wait_until(t)`, `co_await h.wait_for(d)`: whether all have ended by then.  Throws
  /// nothing of theirs.
  [[nodiscard]] auto wait_until(instant t) noexcept {
    return detail::timed_handle_wait<task_handle>(*this, t);
  }
  [[nodiscard]] auto wait_for(instant::duration d) noexcept {
    return detail::timed_handle_wait<task_handle>(*this, d);
  }

  /// For the library.
  [[nodiscard]] detail::handled_tasks& tasks() noexcept { return tasks_; }

 private:
  [[nodiscard]] detail::task_giving<T>& the_one() const {
    if (tasks_.size() != 1) [[unlikely]]
      throw std::logic_error("weft: a handle of " + std::to_string(tasks_.size()) +
                             " tasks was awaited for what one of them gave: co_await h.all()");
    return static_cast<detail::task_giving<T>&>(*static_cast<detail::task_record*>(tasks_.first()));
  }

  detail::handled_tasks tasks_;
};

/// `co_await start_task(h, f, args...)`: starts `f(args...)` in no scope, so that it may outlive
/// who does.  A function, or a closure without captures, that gives a T or an eff<T, ...>; its
/// arguments are copied or moved, and none refers to something else.
///
/// What it throws is thrown to who waits for it.  If nobody does and the handle has gone, it is as
/// if a process had thrown it: all are cancelled, and schedule throws it.
template <class T, class F, class... Args>
auto start_task(task_handle<T>& h, F f, Args&&... args) {
  if constexpr (detail::may_go_on_alone<F, std::decay_t<Args>...>()) {
    using made = detail::task_calling<F, std::decay_t<Args>...>;
    return detail::starts_task<typename made::effects, task_handle<T>&>(
        h, *new made(nullptr, true, std::move(f), std::forward<Args>(args)...));
  } else {
    return detail::refused<void>();
  }
}
/// The same; gives the handle.
template <class F, class... Args>
auto start_task(F f, Args&&... args) {
  if constexpr (detail::may_go_on_alone<F, std::decay_t<Args>...>()) {
    using made = detail::task_calling<F, std::decay_t<Args>...>;
    return detail::starts_task<typename made::effects, task_handle<typename made::value_type>>(
        {}, *new made(nullptr, true, std::move(f), std::forward<Args>(args)...));
  } else {
    return detail::refused<void>();
  }
}

}  // namespace weft
