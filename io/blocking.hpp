// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/handle.hpp"
#include "weft/effects/operation.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/tasks/shielded.hpp"
#include "weft/sched/tasks/task_handle.hpp"

namespace weft {

/// A job that runs once, on a thread that it may block.  If it is destroyed before it has run, the
/// process that waits for it gets completion_dropped.
class blocking_job {
 public:
  blocking_job() = default;
  blocking_job(blocking_job const&) = delete;
  blocking_job& operator=(blocking_job const&) = delete;
  virtual ~blocking_job() = default;
  /// Runs the job, and gives its result or its exception to the process that waits for it.
  virtual void run() noexcept = 0;
};

/// The effect of running jobs that block a thread, such as work on files, or in a library without
/// coroutines.  off_thread performs it.
///
/// A handler runs the job on some thread, or destroys it.  Handlers are thread_pool
/// (thread_pool.hpp) and, for tests, blocking_at_once.
struct blocking {
  /// Gives the job to the handler, and does not wait for it.
  struct [[nodiscard("weft: co_await it")]] run : op<void, seals> {
    [[nodiscard("weft: co_await it")]] explicit run(std::unique_ptr<blocking_job> j) noexcept
        : job(std::move(j)) {}
    std::unique_ptr<blocking_job> job;
    friend std::size_t hash_value(run const&) { return 0; }  // 0: jobs are not compared
  };
  using operations = op_list<run>;
};

/// The row of off_thread, for use in a longer one: eff<void, console, blocking_work>.
using blocking_work = row<blocking, completions>;

/// Runs the job on the performing thread, which blocks meanwhile.  For tests and exploration.
class blocking_at_once : public handler<blocking> {
 public:
  static constexpr bool thread_safe = true;
  void on(blocking::run const& r) const { r.job->run(); }
};

namespace detail {

/// The progress of a job, which the job and the process that waits for it share.  Before the
/// process unwinds frames that the job may refer to, it takes the job back, or waits until the job
/// is over.
///
///   JOB-3  The state `is_` goes from `waits` to `runs` and to `over`, by the thread that runs the
///       job or destroys it; or from `waits` to `taken_back`, by the process.
class job_progress {
 public:
  job_progress() = default;
  job_progress(job_progress const&) = delete;
  job_progress& operator=(job_progress const&) = delete;
  virtual ~job_progress() = default;
  /// Marks the job as running.  False if the job was taken back.
  [[nodiscard]] bool begin() noexcept { return change(state::runs); }
  /// Marks the job as over, and wakes the thread in block().  Called when nothing refers to the
  /// job's function and arguments any more.
  void end() noexcept {
    // [1] release: pairs with [2] in block(), so that block() returns after all that the job did.
    is_.store(state::over, std::memory_order_release);
    is_.notify_all();
  }
  /// Takes the job back, so that it never begins, and destroys its function and arguments.  False
  /// if the job has begun, or was taken back before.
  [[nodiscard]] bool take_back() noexcept {
    if (!change(state::taken_back)) return false;
    drop();
    return true;
  }
  /// Takes the job back, or blocks the calling thread until the job is over.
  void block() noexcept {
    if (take_back()) return;
    for (;;) {
      state const now = is_.load(std::memory_order_acquire);  // [2] acquire: pairs with end()'s [1]
      if (now != state::runs) return;
      is_.wait(now, std::memory_order_relaxed);  // relaxed: [2] loads the state again
    }
  }

 private:
  enum class state : std::uint32_t { waits, runs, over, taken_back };
  bool change(state to) noexcept {
    state found = state::waits;
    // relaxed: the exchange only decides which party is first, and publishes no data.
    return is_.compare_exchange_strong(found, to, std::memory_order_relaxed);
  }
  virtual void drop() noexcept = 0;

  std::atomic<state> is_ = state::waits;
};
/// The function and the arguments of a job.  The party that has changed the state from `waits`
/// destroys them (JOB-3).
template <class F, class... Args>
class job_content final : public job_progress {
 public:
  template <class... As>
  explicit job_content(F&& f, As&&... args)
      : what(std::in_place, std::move(f), std::forward<As>(args)...) {}
  std::optional<std::tuple<F, Args...>> what;

 private:
  void drop() noexcept override { what.reset(); }
};

template <class F, class... Args>
class blocking_job_of final : public blocking_job {
 public:
  using result = std::invoke_result_t<F, Args...>;
  using content = job_content<F, Args...>;
  blocking_job_of(completer<result> to, std::shared_ptr<content> c) noexcept
      : to_(std::move(to)), content_(std::move(c)) {}
  ~blocking_job_of() override {
    if (!content_->begin()) return;
    content_->what.reset();
    (void)completer<result>(std::move(to_));  // destroyed: the waiter gets completion_dropped
    content_->end();
  }
  void run() noexcept override {
    if (!content_->begin()) return;
    // Before the waiter continues, `f` and its arguments are destroyed, and this thread has given
    // up its reference to the exception.
    std::exception_ptr error;
    result_slot<result> a;
    try {
      a.set_from([this]() -> result { return std::apply(invoke(), std::move(*content_->what)); });
    } catch (...) {
      error = std::current_exception();
    }
    content_->what.reset();
    if (!error) try {
        if constexpr (std::is_void_v<result>)
          to_.complete();
        else
          to_.complete(a.take());
      } catch (...) {
        error = std::current_exception();
      }
    if (error) to_.fail(std::move(error));
    content_->end();
  }

 private:
  struct invoke {
    result operator()(F&& f, Args&&... args) const {
      return std::invoke(std::move(f), std::move(args)...);
    }
  };
  completer<result> to_;
  std::shared_ptr<content> const content_;
};

/// Lies in the frame of a process that waits for its job.  If that frame is unwound before the job
/// is over, the destructor takes the job back, or blocks the thread until the job is over.
struct job_wait {
  std::shared_ptr<job_progress> progress;
  std::stop_source asks_to_stop;
  bool is_over = false;

  job_wait(std::shared_ptr<job_progress> p, std::stop_source s) noexcept
      : progress(std::move(p)), asks_to_stop(std::move(s)) {}
  job_wait(job_wait const&) = delete;
  job_wait& operator=(job_wait const&) = delete;
  ~job_wait() {
    if (!is_over) end();
  }
  /// Asks the job to stop, and blocks the thread until the job refers to no frame of the process.
  /// Called if the process may not wait any more.
  void end() noexcept {
    asks_to_stop.request_stop();
    progress->block();
    is_over = true;
  }
};
/// Waits for the result of a job, and yields it.
template <class T>
eff<T, completions> result_of_job(completion<T>& from) {
  if constexpr (std::is_void_v<T>) {
    co_await from.wait();
  } else {
    T value = co_await from.wait();
    co_return value;
  }
}
/// Asks the job of a cancelled process to stop, and waits until the job is over.  Other processes
/// run meanwhile, unless all are cancelled.  Yields the result of the job, or throws its exception.
/// Throws `why`, which is `cancelled`, if the job was taken back, or if a job that could learn of
/// the request to stop has thrown.
template <class T>
eff<T, completions> waits_for_end_of_job(job_wait& job, completion<T>& result,
                                         std::exception_ptr why) {
  job.asks_to_stop.request_stop();
  if (job.progress->take_back()) {
    job.is_over = true;
    std::rethrow_exception(std::move(why));
  }
  bool has_come = true;
  try {
    if constexpr (std::is_void_v<T>) {
      co_await shielded([&] { return result_of_job(result); });
      co_return;
    } else {
      T value = co_await shielded([&] { return result_of_job(result); });
      co_return value;
    }
  } catch (...) {
    has_come = result.is_spent(internal());
    // An exception of a job with a stop token means that the job has stopped.
    if (has_come && job.asks_to_stop.stop_possible()) std::rethrow_exception(std::move(why));
    if (has_come) throw;
  }
  job.end();  // all processes are cancelled, so this thread blocks until the job is over
  co_return co_await result_of_job(result);
}
template <class T>
eff<T, blocking, completions> waits_off_thread(std::unique_ptr<blocking_job> job,
                                               std::shared_ptr<job_progress> progress,
                                               completion<T> result, std::stop_source stop) {
  job_wait at(std::move(progress), std::move(stop));
  co_await blocking::run(std::move(job));
  std::exception_ptr was_cancelled;
  try {
    if constexpr (std::is_void_v<T>) {
      co_await result_of_job(result);
      at.is_over = true;
      co_return;
    } else {
      T value = co_await result_of_job(result);
      at.is_over = true;
      co_return value;
    }
  } catch (cancelled const&) {
    if (result.is_spent(internal())) {  // the job itself threw `cancelled`
      at.is_over = true;
      throw;
    }
    was_cancelled = std::current_exception();
  } catch (...) {
    at.is_over = true;
    throw;
  }
  co_return co_await waits_for_end_of_job(at, result, std::move(was_cancelled));
}
/// Returns the computation of off_thread, which requests a stop of `stop` if its process is
/// cancelled.
template <class F, class... Args>
auto off_thread_with(std::stop_source stop, F f, Args&&... args) {
  using job = blocking_job_of<F, std::decay_t<Args>...>;
  completer<typename job::result> source;
  auto result = source.get_completion();
  auto content = std::make_shared<typename job::content>(std::move(f), std::forward<Args>(args)...);
  std::unique_ptr<blocking_job> made = std::make_unique<job>(std::move(source), content);
  return waits_off_thread(std::move(made), std::move(content), std::move(result), std::move(stop));
}
template <class T>
eff<T, blocking, completions> waits_detached(std::unique_ptr<blocking_job> job,
                                             completion<T> result) {
  co_await blocking::run(std::move(job));
  co_return co_await result_of_job(result);
}
/// Whether off_thread can run the function.  If not, a static_assert says why.
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
/// are moved or copied into the job, and are destroyed before the caller continues.  So they may
/// refer to locals of the caller: a caller that is cancelled takes back a job that has not begun,
/// and throws `cancelled`; else it waits until the job is over, and yields its result, or throws
/// its exception.  Other processes run meanwhile, unless all are cancelled: then the thread blocks.
/// If the job never runs, because its handler ends first, throws completion_dropped.  The operation
/// seals.
///
/// Six allocations: the job, its progress, the completion's state, three frames.  Throws what `f`
/// throws; completion_dropped; `cancelled`; bad_alloc.  With g++ 12 a closure that owns something
/// must be named (docs/portability.md).
template <class F, class... Args>
[[nodiscard("weft: co_await it")]] awaits_to<
    detail::awaited_call_t<std::decay_t<F>, std::decay_t<Args>...>> auto
off_thread(F&& f, Args&&... args) {
  using callee = std::decay_t<F>;
  if constexpr (detail::can_run_off_thread<callee, std::decay_t<Args>...>())
    return detail::off_thread_with(std::stop_source(std::nostopstate), callee(std::forward<F>(f)),
                                   std::forward<Args>(args)...);
  else
    return detail::refused<void>();
}

/// Runs `f(args...)` on a thread that may block, and yields its result.  Unlike with off_thread, a
/// caller that is cancelled does not wait: the job runs to its end without the caller.  So `f` is a
/// function, or a closure without captures, and neither `f` nor the arguments refer to objects of
/// the caller.  The row, the exceptions and the six allocations are those of off_thread.
template <class F, class... Args>
[[nodiscard("weft: co_await it")]] awaits_to<
    detail::awaited_call_t<std::decay_t<F>, std::decay_t<Args>...>> auto
off_thread_detached(F&& f, Args&&... args) {
  using callee = std::decay_t<F>;
  if constexpr (detail::can_run_off_thread<callee, std::decay_t<Args>...>() &&
                detail::may_go_on_alone<callee, std::decay_t<Args>...>()) {
    using job = detail::blocking_job_of<callee, std::decay_t<Args>...>;
    completer<typename job::result> source;
    auto result = source.get_completion();
    auto content = std::make_shared<typename job::content>(callee(std::forward<F>(f)),
                                                           std::forward<Args>(args)...);
    return detail::waits_detached(
        std::unique_ptr<blocking_job>(std::make_unique<job>(std::move(source), std::move(content))),
        std::move(result));
  } else {
    return detail::refused<void>();
  }
}

}  // namespace weft
