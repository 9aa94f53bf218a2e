// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/eff.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/sync/gate.hpp"

namespace weft {
namespace detail {
class permits;
}

/// A lock for processes: one process holds it at a time.
///
///     auto const held = co_await m.lock();
///     ...  // no other process holds it, whatever this one waits for in here
///
/// Waiting for a mutex suspends the process, not its thread; the process that holds the mutex may
/// be suspended too.  A mutex works the same on one thread, on several and where schedules are
/// explored.  A process that comes just as the mutex is unlocked may get it before the process that
/// was woken for it; but only once: after that, newcomers wait in line.
///
/// Not recursive: a process that locks a mutex it holds waits for itself; the `deadlock` that
/// schedule() throws names the process and the place.  Do not use a mutex for data that is accessed
/// for a few instructions between two operations: on one thread no other process runs meanwhile,
/// and on several threads a std::mutex or an atomic is enough.
///
/// A process that has tried to lock a mutex can no longer fork: both clones would unlock it.
///
/// If the mutex is destroyed while processes wait for it, they find `cancelled`; the guard of the
/// process that holds it then guards nothing.  While a process waits, only processes of the same
/// scheduler may use the mutex.
///
/// One allocation.  Locking takes a frame from the pool, and one more if the process waits; O(1).
class mutex {
 public:
  class guard;

  /// Throws bad_alloc.
  mutex();
  mutex(mutex const&) = delete;
  mutex& operator=(mutex const&) = delete;
  ~mutex();

  /// Waits until the mutex is free; `co_await` yields a guard that holds it.  Locking a free mutex
  /// does not yield to other processes.  Throws `cancelled` if the mutex is destroyed.
  eff<guard, syncing> lock(std::source_location where = std::source_location::current()) {
    return locks(state_, where);
  }
  /// `co_await` yields the guard; or nothing if the mutex is held, or newcomers have to wait in
  /// line.  Does not yield to other processes.
  eff<std::optional<guard>, syncing> try_lock(
      std::source_location where = std::source_location::current()) {
    return tries(state_, std::nullopt, where);
  }
  /// Waits until the mutex is free, until `t` at the latest; `co_await` yields nothing if the mutex
  /// is still held then.  O(log n) in the waiters with a deadline.
  eff<std::optional<guard>, syncing> try_lock_until(
      instant t, std::source_location where = std::source_location::current()) {
    return tries(state_, t, where);
  }

 private:
  friend class condition;
  using state = std::shared_ptr<detail::permits>;
  static eff<guard, syncing> locks(state s, std::source_location where);
  static eff<std::optional<guard>, syncing> tries(state s, std::optional<instant> until,
                                                  std::source_location where);

  state state_;
};

/// Holds a mutex, and unlocks it when the guard is destroyed, also when its process is unwound.
/// While processes wait for the mutex, the guard may be destroyed only on a thread of their
/// scheduler.  Movable; used by one process at a time.
class [[nodiscard("weft: a guard unlocks when it is destroyed: name it")]] mutex::guard {
 public:
  guard(guard&&) noexcept = default;
  /// Unlocks the mutex that this guard held before.
  guard& operator=(guard other) noexcept {
    state_.swap(other.state_);
    return *this;
  }
  ~guard() {
    if (state_) give_back();
  }

  /// Unlocks early.  Throws std::logic_error if the guard holds no mutex.
  void unlock() { (void)guard(taken()); }
  /// False if the guard was moved from or unlocked, or if a wait at a condition has unlocked the
  /// mutex and not locked it again.
  [[nodiscard]] bool owns() const noexcept { return state_ != nullptr; }

 private:
  friend class mutex;
  friend class condition;
  explicit guard(state s) noexcept : state_(std::move(s)) {}
  void give_back() noexcept;
  void require() const;
  [[nodiscard]] state taken();

  state state_;
};

namespace detail {
template <class F, class R = std::invoke_result_t<F&>>
struct locked_call {
  static eff<R, syncing> call(mutex& m, F f, std::source_location where) {
    auto const held = co_await m.lock(where);
    co_return f();
  }
};
template <class F, class T, class... Effects>
struct locked_call<F, eff<T, Effects...>> {
  static eff<T, syncing, Effects...> call(mutex& m, F f, std::source_location where) {
    auto const held = co_await m.lock(where);
    co_return co_await f();
  }
};
}  // namespace detail

/// Calls `f()` with the mutex locked; `co_await` yields the result.  `f` is a plain function, or
/// one that returns an eff.  Row: `syncing`, and the effects of that eff.  Allocates a frame
/// besides that of lock().
///
///     int const n = co_await with_lock(m, [&] { return ++count; });
///
/// `f` is kept until its call has ended, so it may be a closure with captures, even if it is a
/// coroutine.
template <class F>
[[nodiscard("weft: co_await it")]] awaits_to<detail::awaited_call_t<F&>> auto with_lock(
    mutex& m, F f, std::source_location where = std::source_location::current()) {
  constexpr bool is_a_function = std::invocable<F&>;
  static_assert(is_a_function,
                "weft: with_lock takes a mutex, and a function without arguments: not its result");
  if constexpr (is_a_function)
    return detail::locked_call<F>::call(m, std::move(f), where);
  else
    return detail::refused();
}

}  // namespace weft
