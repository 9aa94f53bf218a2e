// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"
#include "weft/effects/operation.hpp"
#include "weft/sched/sync/completion.hpp"

namespace weft {

/// A job that runs once, on a thread that it may block.  If it is destroyed before it has run, the
/// process that waits for it gets completion_dropped.
class blocking_job {
 public:
  blocking_job() = default;
  blocking_job(blocking_job const&) = delete;
  blocking_job& operator=(blocking_job const&) = delete;
  virtual ~blocking_job() = default;
  /// Runs the job, and completes the waiter with the result or the exception.
  virtual void run() noexcept = 0;
};

/// Work that blocks a thread: on files, or in a library without coroutines.  Performed by
/// off_thread.
///
/// A handler runs the job on some thread, or destroys it: thread_pool (thread_pool.hpp); in tests,
/// blocking_at_once.
struct blocking {
  /// Gives the job to the handler, and does not wait for it.
  struct [[nodiscard("weft: co_await it")]] run : op<void, seals> {
    [[nodiscard("weft: co_await it")]] explicit run(std::unique_ptr<blocking_job> j) noexcept
        : job(std::move(j)) {}
    std::unique_ptr<blocking_job> job;
    friend std::size_t hash_value(run const&) { return 0; }  // jobs are not compared
  };
  using operations = op_list<run>;
};

/// The row of off_thread: eff<void, console, blocking_work>.
using blocking_work = row<blocking, completions>;

/// Runs the job on the performing thread, which blocks meanwhile.  For tests and exploration.
class blocking_at_once : public handler<blocking> {
 public:
  static constexpr bool thread_safe = true;
  void on(blocking::run const& r) const { r.job->run(); }
};

namespace detail {

template <class F, class... Args>
class blocking_job_of final : public blocking_job {
 public:
  using result = std::invoke_result_t<F, Args...>;

  template <class... As>
  blocking_job_of(completer<result> to, F&& f, As&&... args)
      : to_(std::move(to)), what_(std::in_place, std::move(f), std::forward<As>(args)...) {}

  void run() noexcept override {
    // Before the waiter continues, `f` and its arguments are destroyed, and this thread has given
    // up its reference to the exception.
    std::exception_ptr error;
    result_slot<result> a;
    try {
      a.set_from([this]() -> result { return std::apply(invoke(), std::move(*what_)); });
    } catch (...) {
      error = std::current_exception();
    }
    what_.reset();
    if (!error) try {
        if constexpr (std::is_void_v<result>)
          to_.complete();
        else
          to_.complete(a.take());
      } catch (...) {
        error = std::current_exception();
      }
    if (error) to_.fail(std::move(error));
  }

 private:
  struct invoke {
    result operator()(F&& f, Args&&... args) const {
      return std::invoke(std::move(f), std::move(args)...);
    }
  };
  completer<result> to_;
  std::optional<std::tuple<F, Args...>> what_;
};

template <class T>
eff<T, blocking, completions> waits_off_thread(std::unique_ptr<blocking_job> job,
                                               completion<T> result) {
  co_await blocking::run(std::move(job));
  if constexpr (std::is_void_v<T>) {
    co_await result.wait();
  } else {
    T value = co_await result.wait();
    co_return value;
  }
}

/// Whether off_thread can run the function; if not, gives the error message.
template <class F, class... Args>
consteval bool can_run_off_thread() {
  constexpr bool is_called = std::invocable<F, Args...>;
  static_assert(is_called,
                "weft: off_thread takes a function and its arguments, which are moved to another "
                "thread: a reference goes as std::ref(x), and has to last");
  if constexpr (is_called) {
    using result = std::invoke_result_t<F, Args...>;
    constexpr bool is_a_value = std::is_void_v<result> || std::is_object_v<result>;
    constexpr bool is_plain = !is_eff<std::remove_cvref_t<result>>;
    static_assert(is_a_value,
                  "weft: the function of off_thread returns a value: a reference would be shared "
                  "with the other thread");
    static_assert(is_plain,
                  "weft: off_thread runs plain code: a computation is run by its scheduler, on the "
                  "threads of that; co_await it, or spawn it");
    return is_a_value && is_plain;
  } else {
    return false;
  }
}

}  // namespace detail

/// Runs `f(args...)` on a thread that may block, while other processes run here:
///
///     std::string const text = co_await off_thread(read_all, std::move(path));
///
/// Row: `blocking_work`.  Yields the result of `f`, or throws its exception.  `f` and the arguments
/// are moved or copied into the job, and are destroyed before the caller continues.  A caller that
/// is cancelled does not wait; the job still runs to its end, with all that it owns.  If the job
/// never runs, because the pool is destroyed, throws completion_dropped.  The operation seals.
///
/// Four allocations: the job, the completion's state, two frames.  Throws what `f` throws;
/// completion_dropped; bad_alloc.  With g++ 12 a closure that owns something must be named
/// (docs/portability.md).
template <class F, class... Args>
[[nodiscard("weft: co_await it")]] awaits_to<
    detail::awaited_call_t<std::decay_t<F>, std::decay_t<Args>...>> auto
off_thread(F&& f, Args&&... args) {
  using callee = std::decay_t<F>;
  if constexpr (detail::can_run_off_thread<callee, std::decay_t<Args>...>()) {
    using job = detail::blocking_job_of<callee, std::decay_t<Args>...>;
    completer<typename job::result> source;
    auto result = source.get_completion();
    return detail::waits_off_thread(
        std::unique_ptr<blocking_job>(std::make_unique<job>(
            std::move(source), callee(std::forward<F>(f)), std::forward<Args>(args)...)),
        std::move(result));
  } else {
    return detail::refused<void>();
  }
}

}  // namespace weft
