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

/// Where a job is.  Its process waits until the job is over before it unwinds frames that the job
/// may refer to; so it takes a job back that has not begun.
///
///   JOB-3  The word goes from `waits` to `runs` and to `over`, by the thread that runs the job or
///       destroys it; or from `waits` to `taken_back`, by the process.
class job_progress {
 public:
  job_progress() = default;
  job_progress(job_progress const&) = delete;
  job_progress& operator=(job_progress const&) = delete;
  virtual ~job_progress() = default;
  /// False if the job was taken back.
  [[nodiscard]] bool begin() noexcept { return change(state::runs); }
  /// Nothing refers to the job's function and arguments any more.
  void end() noexcept {
    is_.store(state::over, std::memory_order_release);  // [1] release: pairs with [2]
    is_.notify_all();
  }
  /// True if the job will never begin.  Then its function and arguments are destroyed.
  [[nodiscard]] bool take_back() noexcept {
    if (!change(state::taken_back)) return false;
    drop();
    return true;
  }
  /// Blocks the calling thread until the job is over.
  void block() noexcept {
    if (take_back()) return;
    for (;;) {
      state const now = is_.load(std::memory_order_acquire);  // [2] acquire: pairs with [1]
      if (now != state::runs) return;
      is_.wait(now, std::memory_order_relaxed);  // relaxed: the load above looks again
    }
  }

 private:
  enum class state : std::uint32_t { waits, runs, over, taken_back };
  bool change(state to) noexcept {
    state found = state::waits;
    // relaxed: which party is first is all that is decided here.
    return is_.compare_exchange_strong(found, to, std::memory_order_relaxed);
  }
  virtual void drop() noexcept = 0;

  std::atomic<state> is_ = state::waits;
};
/// The function and the arguments of a job: destroyed by the party that has changed the word.
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
    (void)completer<result>(std::move(to_));  // tells the waiter
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

/// The wait of a process for its job.  If the frame is unwound meanwhile, its thread blocks until
/// the job is over.
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
  /// Called if the process may not wait any more: returns when nothing refers to its frames.
  void end() noexcept {
    asks_to_stop.request_stop();
    progress->block();
    is_over = true;
  }
};
/// Yields the result of a completion that has come.
template <class T>
eff<T, completions> result_of_job(completion<T>& from) {
  if constexpr (std::is_void_v<T>) {
    co_await from.wait();
  } else {
    T value = co_await from.wait();
    co_return value;
  }
}
/// Waits for a job whose process is cancelled, which has no more to say to the job than to end soon.
/// Other processes run meanwhile, unless all are cancelled.  Throws `cancelled` if there is no
/// result.
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
    // A job that was asked to stop, and throws, has stopped.
    if (has_come && job.asks_to_stop.stop_possible()) std::rethrow_exception(std::move(why));
    if (has_come) throw;
  }
  job.end();  // all processes are cancelled: blocks
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
    if (result.is_spent(internal())) {  // the job threw it
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
/// Makes the computation of off_thread.  `stop`: is requested if the process is cancelled.
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
/// are moved or copied into the job, and are destroyed before the caller continues.  So they may
/// refer to locals of the caller: a caller that is cancelled takes back a job that has not begun,
/// and throws `cancelled`; else it waits until the job is over, and yields its result.  Other
/// processes run meanwhile, unless all are cancelled: then the thread blocks.  If the job never
/// runs, because the pool is destroyed, throws completion_dropped.  The operation seals.
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

/// As off_thread, but a caller that is cancelled does not wait: the job runs to its end without it,
/// with all that it owns.  So `f` is a function, or a closure without captures, and neither it nor
/// the arguments refer to objects of the caller.  Row, and what it throws: as off_thread.  Five
/// allocations.
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
