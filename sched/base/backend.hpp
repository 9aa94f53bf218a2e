// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <utility>

#include "sched/base/lazy_task.hpp"
#include "sched/base/thunk.hpp"

namespace weft {

using instant = std::chrono::steady_clock::time_point;

/// What becomes of who starts a process when there are as many as there may be
/// (schedule_options::max_processes).
enum class overflow_policy : unsigned char {
  fail,  ///< It throws too_many_processes.
  wait   ///< It waits until one has ended; who waits longest starts his first.
};

/// Why a thunk is put: a backend may order by it.
enum class put_reason {
  started,     ///< A process that has not run yet.
  yielded,     ///< It let the others go first.
  woken,       ///< What it waited for has come.
  handed_over  ///< It goes on later, and one that it has woken now, which was not put.
};

/// Whether nothing more is due from outside: no timer, no completion.
class quiescence_test {
 public:
  constexpr quiescence_test() = default;  // nothing is
  constexpr quiescence_test(bool (*f)(void const*), void const* data) noexcept
      : f_(f), data_(data) {}
  [[nodiscard]] bool operator()() const { return !f_ || f_(data_); }

 private:
  bool (*f_)(void const*) = nullptr;
  void const* data_ = nullptr;
};

/// Where boxed resumptions wait, and who says which runs next.  It neither looks into a process
/// nor counts them.
///
/// What put throws, it throws with the thunk as it was.
///
///   BACKEND-1  A put happens before the take or claim that returns it.
///   BACKEND-2  Each put is answered by exactly one take or claim, or by stop.
///   BACKEND-3  b.put may be called by any thread; a worker belongs to one.
///   BACKEND-4  claim(p) gives the thunk that was put, if p is ready; else an empty one.  It may say no to
///       everything.
///   BACKEND-5  take comes back empty only if it is dry (every worker idle, nothing ready, and `dry`
///       agreed), at the deadline, or stopped; and says which.  If there are several workers, dry
///       is for good: until all of them have gone; and b.recheck_deadlines() has each of them come back as
///       at the deadline, once, before it sleeps on: there may be an earlier one.
template <class B>
concept backend = requires(B b, typename B::worker& w, thunk t, process* p, instant until,
                           quiescence_test quiescent) {
  requires std::constructible_from<typename B::worker, B&, unsigned>;  // one a thread
  w.put(std::move(t), put_reason::yielded);                            // the owner's end
  b.put(std::move(t), put_reason::woken);  // from anywhere: completions, timers, other threads
  { b.claim(p) } -> std::same_as<thunk>;
  { w.take(until, quiescent) } -> std::same_as<thunk>;
  { B::wakes } -> std::convertible_to<unsigned>;  // waiters that a release makes ready
  b.stop();                                       // from anywhere
};

/// One that has memory for a put from anywhere beforehand: b.reserve() throws bad_alloc, and
/// b.put(thunk, why, reserved) nothing.  So a process that waits for something from outside is
/// woken even if there is no memory then.  Of another backend b.put() should throw nothing: what it
/// throws, open() does, and completing (external_event.hpp).
template <class B>
concept reserving_backend =
    backend<B> && requires(B b, thunk t, decltype(std::declval<B&>().reserve()) r) {
      { b.put(std::move(t), put_reason::woken, std::move(r)) } noexcept;
    };

/// One whose workers have a short cut, when it can be had, for w.put(t, why::yielded) followed by
/// w.take(...).
template <class B>
concept exchanging_backend = backend<B> && requires(typename B::worker& w, thunk t) {
  { w.can_exchange() } noexcept -> std::same_as<bool>;
  { w.exchange(std::move(t)) } noexcept -> std::same_as<thunk>;
};

namespace detail {
/// After how many takes a worker has its offers begun all the same (BACKEND-8).
inline constexpr unsigned max_deferrals = 64;
}  // namespace detail

/// Whether offers have been put; and, if so, whether somebody is to be told.
enum class lazy_push : std::uint8_t { done, unannounced, no_room };

/// One whose workers keep offers.
///
///   BACKEND-6  Each offer is answered by exactly one: its worker's reclaim(), which gives the newest
///       that is there, null if there is none; or a take, of any worker, which begins it.  What is
///       left when the worker or the backend ends is begun, and dropped.  w.put_all(n, next) puts
///       what next() gives, n times, at least once; or none, if there is no room: w.make_room(n)
///       makes some, or throws bad_alloc.  If somebody sleeps who might take one, w.tell() tells
///       him.  Who takes one, and sees more, tells the next of them.  Who puts back what it has
///       taken back tells of it, since others may have looked meanwhile.
///   BACKEND-7  While there are offers it is not dry.  A worker that takes has nothing better to do with
///       its own: all of them have their turn as if they were put then.
///   BACKEND-8  w.has_other_work() is a hint whether a process is ready that the worker would take.  A process
///       that lets those go first, and will take back its offers in its turn, calls
///       w.defer_lazy_tasks(): then BACKEND-7 may wait for some takes, so many at most.
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
/// What next() gives, n times, at least once.  Throws bad_alloc, and then has put nothing.
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

/// What a process waits for: reports tell the two apart.
enum class wait_kind : std::uint8_t { mail, other };

/// One whose workers run on several threads at once.  It has something with each process, of the
/// type `place` (16 bytes aligned, without a destructor; header_of<place>(p) gives it), and is
/// told, on its thread, when a process waits: before it says anywhere where it can be found, and
/// when its thread touches it no more.  Put in between, it is not run before that.
template <class B>
concept concurrent_backend =
    backend<B> && requires(B const& b, typename B::worker& w, process& p, wait_kind what) {
      typename B::header;
      { b.threads() } noexcept -> std::same_as<unsigned>;  // how many workers it is to have
      { w.on_wait_begin(p) } noexcept;
      { w.on_waiting(p, what) } noexcept;
      { w.on_wait_cancelled(p) } noexcept;  // it need not wait after all
      { w.on_handover(p) } noexcept;  // it waits, or is about to, and its next step is the caller's
    };

namespace detail {
/// Whether who sends lets the one run who waits for that.  Not where all orders are explored: who
/// is next is chosen there: so `B::hands_over` says false.
template <class B>
constexpr bool hands_over = true;
template <class B>
  requires requires { B::hands_over; }
constexpr bool hands_over<B> = B::hands_over;
}  // namespace detail

/// One that is told what processes look at and write.
template <class B>
concept exploring_backend = backend<B> && requires(B b, process* p, void const* location,
                                                   bool writes) { b.touched(p, location, writes); };

/// How a program is run on it: `B::options`, which has the fields of schedule_options
/// (schedule.hpp) and the backend's, and which it can be made from.
template <class B>
concept configurable_backend = backend<B> && requires { typename B::options; } &&
                               std::constructible_from<B, typename B::options const&>;

}  // namespace weft
