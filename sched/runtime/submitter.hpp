// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <functional>
#include <future>
#include <type_traits>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/lost_process.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/runtime/detail/incoming/submitting.hpp"
#include "weft/sched/tasks/task_handle.hpp"

namespace weft {

namespace detail {

/// The exception of a future whose promise was not kept.  Made once, by the first call: a
/// std::promise would make it in its destructor, and terminate the program if there is no memory.
inline std::exception_ptr const& promise_broken() {
  static auto const& error = *new std::exception_ptr(
      std::make_exception_ptr(std::future_error(std::future_errc::broken_promise)));
  return error;
}
/// A std::promise whose destructor needs no memory.  If the process that holds the promise could
/// not go on, the future throws the reason (lost_process.hpp).
template <class T>
class non_allocating_promise {
 public:
  /// Throws bad_alloc.
  non_allocating_promise() { (void)promise_broken(); }
  non_allocating_promise(non_allocating_promise&& other) noexcept
      : to_(std::move(other.to_)), is_kept_(std::exchange(other.is_kept_, true)) {}
  non_allocating_promise& operator=(non_allocating_promise&&) = delete;
  ~non_allocating_promise() {
    if (is_kept_) return;
    auto const* const why = lost_process::why();
    to_.set_exception(why ? *why : promise_broken());
  }
  [[nodiscard]] std::future<T> get_future() { return to_.get_future(); }
  template <class... Value>
  void set_value(Value&&... value) {
    to_.set_value(std::forward<Value>(value)...);
    is_kept_ = true;
  }
  void set_exception(std::exception_ptr error) {
    to_.set_exception(std::move(error));
    is_kept_ = true;
  }

 private:
  std::promise<T> to_;
  bool is_kept_ = false;
};

/// Fulfils the promise with the result of `f(args...)`, or with its exception.
template <class T, class Row, class F, class... Args>
eff<void, Row> fulfil_promise(non_allocating_promise<T> to, F f, Args... args) {
  try {
    if constexpr (task_value<std::invoke_result_t<F, Args...>>::is_computation) {
      auto computation = std::invoke(std::move(f), std::move(args)...);
      if constexpr (std::is_void_v<T>) {
        co_await std::move(computation);
        to.set_value();
      } else {
        to.set_value(co_await std::move(computation));
      }
    } else if constexpr (std::is_void_v<T>) {
      std::invoke(std::move(f), std::move(args)...);
      to.set_value();
    } else {
      to.set_value(std::invoke(std::move(f), std::move(args)...));
    }
  } catch (cancelled const&) {
    to.set_exception(std::current_exception());
    throw;
  } catch (...) {
    to.set_exception(std::current_exception());
  }
}

}  // namespace detail

template <backend Backend, class... Effects>
template <class F, class... Args>
auto submitter<Backend, Effects...>::submit_task(F f, Args&&... args) const {
  using R = std::invoke_result_t<F, std::decay_t<Args>...>;
  using T = typename detail::task_value<R>::type;
  detail::non_allocating_promise<T> to;
  std::future<T> there = to.get_future();
  (void)submit(
      detail::fulfil_promise<T, typename detail::task_value<R>::effects, F, std::decay_t<Args>...>,
      std::move(to), std::move(f), std::forward<Args>(args)...);
  return there;
}

}  // namespace weft
