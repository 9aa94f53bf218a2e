// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <utility>
#include <version>

#include "weft/sched/base/lazy_task.hpp"
#include "weft/sched/base/put_reason.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/base/trace_event.hpp"

// clang-format off
#if !defined(__cpp_lib_jthread)
#error "weft: std::stop_token is needed: with libc++ before 20, compile with -fexperimental-library"
#include <the error above>
#endif
// clang-format on

namespace weft {

/// A point in time, of the monotonic clock.
using instant = std::chrono::steady_clock::time_point;

/// The behaviour of an operation that would start one process more than
/// schedule_options::max_processes allows.
enum class overflow_policy : unsigned char {
  fail,  ///< The operation throws too_many_processes.
  wait   ///< The operation waits until a process ends; the longest waiter comes first.
};

/// A test whether nothing more is due from outside: no timer is set, no completion is waited for.
class quiescence_test {
 public:
  constexpr quiescence_test() = default;  // the test is always true
  constexpr quiescence_test(bool (*f)(void const*), void const* data) noexcept
      : f_(f), data_(data) {}
  [[nodiscard]] bool operator()() const { return !f_ || f_(data_); }

 private:
  bool (*f_)(void const*) = nullptr;
  void const* data_ = nullptr;
};

/// The queues of ready processes, and the decision which of them runs next.  A backend neither
/// looks into a process nor counts processes.
///
/// If put throws, the thunk is unchanged.
///
///   BACKEND-1  A put happens before the take or claim that returns the thunk.
///   BACKEND-2  Each thunk that is put is returned by exactly one take or claim, unless the backend
///       is stopped.
///   BACKEND-3  Any thread may call b.put; the functions of a worker are called by one thread only.
///   BACKEND-4  If p is ready, claim(p) takes it out of the queues and returns its thunk; else the
///       thunk is empty.  A backend may return an empty thunk in every case.
///   BACKEND-5  take returns an empty thunk only if the backend is quiescent (every worker is idle,
///       nothing is ready, and the test `quiescent` is true), at the deadline, or if the backend is
///       stopped; why_empty() of the thunk says which.  A take whose deadline is instant::min()
///       does not sleep.  With several workers, a backend that is quiescent stays so until all
///       workers are destroyed.  Then there is also b.recheck_deadlines(), called when an earlier
///       deadline may have been set: before a worker sleeps again, one of its takes returns as if
///       its deadline had passed.
template <class B>
concept backend = requires(B b, typename B::worker& w, thunk t, process* p, instant until,
                           quiescence_test quiescent) {
  requires std::constructible_from<typename B::worker, B&, unsigned>;  // a worker for each thread
  w.put(std::move(t), put_reason::yielded);  // called by the worker's own thread
  b.put(std::move(t), put_reason::woken);    // called by any thread
  { b.claim(p) } -> std::same_as<thunk>;
  { w.take(until, quiescent) } -> std::same_as<thunk>;
  { B::wakes } -> std::convertible_to<unsigned>;  // how many waiters the release of a lock wakes
  b.stop();                                       // called by any thread
};

/// A backend that allocates beforehand the memory for a put by any thread.  b.reserve() allocates
/// it, and may throw bad_alloc; b.put(thunk, put_reason, reserved) uses it, and does not throw.  So
/// a process that waits for an external event is woken even if the memory is exhausted by that
/// time.  On a backend that does not reserve memory, b.put() should not throw: an exception of it
/// would be thrown by open() and complete() (external_event.hpp).
template <class B>
concept reserving_backend =
    backend<B> && requires(B b, thunk t, decltype(std::declval<B&>().reserve()) r) {
      { b.put(std::move(t), put_reason::woken, std::move(r)) } noexcept;
    };

/// A backend whose workers can sometimes do w.put(t, put_reason::yielded) followed by w.take(...)
/// in one short step, w.exchange(t).  If a worker has w.prepare_exchange(), the scheduler calls it
/// when w.can_exchange() is false; it returns whether w.can_exchange() may be true now.
template <class B>
concept exchanging_backend = backend<B> && requires(typename B::worker& w, thunk t) {
  { w.can_exchange() } noexcept -> std::same_as<bool>;
  { w.exchange(std::move(t)) } noexcept -> std::same_as<thunk>;
};

namespace detail {
/// The result of take_in_place(): a process, which the caller then owns, and its answer; or null.
struct taken_in_place {
  process* next = nullptr;
  std::uint64_t answer = 0;
};
/// A backend whose workers can most often put and take a process in a few instructions, without a
/// thunk in memory.  w.put_in_place(p, a) does what w.put(thunk(p, a), any reason) does, and
/// returns true; or it does nothing, and returns false.  w.take_in_place() does what w.take() does
/// with any arguments; or it does nothing, and returns null.  `in_place_worker` is the worker's own
/// class: a class derived from such a worker does not satisfy the concept, since it may hide put()
/// and take().
template <class B>
concept in_place_backend =
    backend<B> && std::same_as<typename B::worker::in_place_worker, typename B::worker> &&
    requires(typename B::worker& w, process* p, std::uint64_t answer) {
      { w.put_in_place(p, answer) } noexcept -> std::same_as<bool>;
      { w.take_in_place() } noexcept -> std::same_as<taken_in_place>;
    };
/// The number of takes by which a worker may delay the promotion of its lazy tasks (BACKEND-8).
inline constexpr unsigned max_deferrals = 64;
}  // namespace detail

/// The result of a push of lazy tasks.  `done`: they are pushed.  `unannounced`: they are pushed,
/// and the caller must call announce_lazy(), since a worker sleeps.  `no_room`: none is pushed.
enum class lazy_push : std::uint8_t { done, unannounced, no_room };

/// A backend whose workers keep lazy tasks.
///
///   BACKEND-6  Each lazy task is taken exactly once: by its worker's reclaim(), which returns the
///       newest one, or null if none is left; or by the take of any worker, which promotes it.
///       When the worker or the backend is destroyed, the tasks that are left are promoted, and the
///       processes dropped.  w.push_lazy(n, next) pushes the results of n calls of next(), n >= 1.
///       If there is no room, it pushes none; w.reserve_lazy(n) makes room, or throws bad_alloc.
///       If workers sleep that might take a task, w.announce_lazy() wakes one of them.  A thief
///       that takes a task, and sees that more are left, wakes another worker.  A caller that
///       reclaims a task and pushes it back must announce the task like a new one: thieves may have
///       looked in between, and gone to sleep.
///   BACKEND-7  While there are lazy tasks the backend is not quiescent.  In its take, a worker
///       promotes its own lazy tasks: each has its turn as if its process were put at that time.
///   BACKEND-8  w.has_other_work() is a hint: whether a process is ready that the worker would
///       take.  A process that lets such processes go first, and will reclaim its lazy tasks in its
///       next turn, calls w.defer_lazy_tasks(): then the worker may delay the promotion
///       (BACKEND-7), by at most max_deferrals takes.
template <class B>
concept lazy_backend =
    backend<B> && requires(typename B::worker& w, lazy_task* (*next)(), std::size_t n) {
      { w.has_other_work() } noexcept -> std::same_as<bool>;
      { w.defer_lazy_tasks() } noexcept;
      { w.push_lazy(n, next) } noexcept -> std::same_as<lazy_push>;
      w.reserve_lazy(n);
      { w.announce_lazy() } noexcept;
      { w.reclaim() } noexcept -> std::same_as<lazy_task*>;
    };

namespace detail {
/// Pushes the lazy tasks that n calls of next() return, n >= 1.  If it throws bad_alloc, it has
/// pushed none.
template <class Worker, class Next>
void push_lazy_tasks(Worker& w, std::size_t n, Next next) {
  lazy_push put = w.push_lazy(n, next);
  if (put == lazy_push::no_room) {
    w.reserve_lazy(n);
    put = w.push_lazy(n, next);
  }
  if (put == lazy_push::unannounced) w.announce_lazy();
}
}  // namespace detail

/// A backend with one worker, which can leave its thread to another event loop
/// (scheduler::poll()).  b.on_wakeup(f) sets the function that calls the worker back; it must not
/// throw.  w.try_leave() makes the next b.put() or b.stop() of another thread call that function,
/// once; if such a put or stop has come already, it does nothing and returns false.  w.come_back()
/// undoes w.try_leave().
template <class B>
concept leaving_backend =
    backend<B> && requires(B b, typename B::worker& w, std::function<void()> f) {
      b.on_wakeup(std::move(f));
      { w.try_leave() } noexcept -> std::same_as<bool>;
      { w.come_back() } noexcept;
    };

/// The kind of event that a process waits for.  Reports distinguish the two.
enum class wait_kind : std::uint8_t { mail, other };

/// A backend whose workers run on several threads at once.  It keeps a `header` with each process,
/// aligned to 16 bytes and trivially destructible; header_of<header>(p) returns it.  When a process
/// waits, its thread makes two calls: on_wait_begin() before other threads can find the process on
/// a list, and on_waiting() when the thread no longer touches the process.  A process that is put
/// between the two calls does not run before on_waiting().
template <class B>
concept concurrent_backend =
    backend<B> && requires(B const& b, typename B::worker& w, process& p, wait_kind what) {
      typename B::header;
      { b.threads() } noexcept -> std::same_as<unsigned>;  // how many workers there will be
      { w.on_wait_begin(p) } noexcept;
      { w.on_waiting(p, what) } noexcept;
      { w.on_wait_cancelled(p) } noexcept;  // called if p need not wait after all
      { w.on_handover(p) } noexcept;        // p waits, or is about to, and runs next on this thread
    };

namespace detail {
/// Whether a sender hands the thread over to the receiver that waits.  A backend that always
/// chooses the next process itself, as that of an explorer, sets `B::hands_over` to false.
template <class B>
constexpr bool hands_over = true;
template <class B>
  requires requires { B::hands_over; }
constexpr bool hands_over<B> = B::hands_over;
}  // namespace detail

/// A backend that brings an observer: a type with the functions of detail::no_observer
/// (sched/base/detail/observer.hpp), which the scheduler calls.  tracing<B> is one.
template <class B>
concept observed_backend = backend<B> && requires { typename B::observer; };

/// A backend with options of its own: `B::options` has the fields of schedule_options
/// (scheduler.hpp) and those of the backend, which is constructed from these options.
template <class B>
concept configurable_backend = backend<B> && requires { typename B::options; } &&
                               std::constructible_from<B, typename B::options const&>;

}  // namespace weft
