// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "effects/eff.hpp"
#include "sched/base/backend.hpp"
#include "sched/base/detail/deferred_events.hpp"
#include "sched/sync/detail/permits.hpp"
#include "sched/sync/gate.hpp"

namespace weft {

/// What one process has at a time.
///
///     auto const held = co_await m.lock();
///     ...  // nobody else has it, whatever we wait for in here
///
/// Who waits for it suspends its process, not its thread; and so may who holds it.  The same for
/// one thread, for several and where schedules are explored.  It is not fair: who comes just when
/// it is given back may have it before who was woken for it, who then waits again.
///
/// Not recursive: a process that locks what it holds waits for itself, and is named in the
/// `deadlock` that schedule throws, with the place.  Nor made for data that is looked at for a few
/// instructions between two operations: on one thread nobody else runs there, and on several a
/// std::mutex or an atomic does.
///
/// Who has tried to lock one cannot fork any more: of two who held it each would unlock it.
///
/// If it ends while processes wait for it they find `cancelled`; who holds it then keeps a guard of
/// nothing.  It belongs to one scheduler while somebody waits.
///
/// One allocation.  To lock takes a frame from the pool; O(1).
class mutex {
 public:
  class guard;

  /// Throws bad_alloc.
  mutex() : state_(std::make_shared<detail::permits>(1, detail::permits::kind::mutex)) {}
  mutex(mutex const&) = delete;
  mutex& operator=(mutex const&) = delete;
  ~mutex() {
    detail::cause_event("the end of a mutex", nullptr, [s = std::move(state_)] { s->close(); });
  }

  /// Waits until nobody has it.  One that is free is had without letting anybody go first.  Throws
  /// `cancelled` if the mutex ends.
  eff<guard, syncing> lock(std::source_location where = std::source_location::current()) {
    return locks(state_, where);
  }
  /// Nothing if somebody has it.  Lets nobody go first.
  eff<std::optional<guard>, syncing> try_lock(
      std::source_location where = std::source_location::current()) {
    return tries(state_, std::nullopt, where);
  }
  /// Waits until nobody has it, or until then: nothing if somebody has it still.  O(log n), of n
  /// who wait with a deadline.
  eff<std::optional<guard>, syncing> try_lock_until(
      instant t, std::source_location where = std::source_location::current()) {
    return tries(state_, t, where);
  }

 private:
  friend class condition;
  using state = std::shared_ptr<detail::permits>;
  static inline eff<guard, syncing> locks(state s, std::source_location where);
  static inline eff<std::optional<guard>, syncing> tries(state s, std::optional<instant> until,
                                                         std::source_location where);

  state state_;
};

/// Has a mutex, and unlocks it when it goes, also when its process is unwound: on whatever thread
/// of the scheduler that is, but of no other while processes wait.  Movable; used by one process at
/// a time.
class [[nodiscard("weft: a guard unlocks when it goes: name it")]] mutex::guard {
 public:
  guard(guard&&) noexcept = default;
  /// Unlocks what it had.
  guard& operator=(guard other) noexcept {
    state_.swap(other.state_);
    return *this;
  }
  ~guard() {
    if (!state_) return;
    if (detail::events_are_deferred()) [[unlikely]]
      detail::cause_event("an unlock", nullptr, [s = std::move(state_)] { s->give_back(1); });
    else
      state_->give_back(1);
  }

  /// Before it goes.  Throws std::logic_error if it has none.
  void unlock() { (void)guard(taken()); }
  /// Not if it was moved from or unlocked, or a wait at a condition has failed.
  [[nodiscard]] bool owns() const noexcept { return state_ != nullptr; }

 private:
  friend class mutex;
  friend class condition;
  explicit guard(state s) noexcept : state_(std::move(s)) {}
  void require() const {
    if (!state_) throw std::logic_error("weft: a guard of a mutex has none: it has unlocked it");
  }
  [[nodiscard]] state taken() {
    require();
    return std::move(state_);
  }

  state state_;
};

eff<mutex::guard, syncing> mutex::locks(state s, std::source_location where) {
  co_await detail::located(syncing::touch(s->location(), false), where);
  process_id const me = co_await detail::located(syncing::own(), where);
  if (!s->try_take()) co_await detail::permits::take(s, where);
  s->set_holder(me, where);
  co_return guard(std::move(s));
}
eff<std::optional<mutex::guard>, syncing> mutex::tries(state s, std::optional<instant> until,
                                                       std::source_location where) {
  co_await detail::located(syncing::touch(s->location(), false), where);
  process_id const me = co_await detail::located(syncing::own(), where);
  bool has_it = s->try_take();
  if (!has_it && until) has_it = co_await detail::permits::take_until(s, *until, where);
  if (!has_it) co_return std::nullopt;
  s->set_holder(me, where);
  co_return guard(std::move(s));
}

namespace detail {
template <class F, class R = std::invoke_result_t<F&>>
struct locked_call {
  static eff<R, syncing> call(mutex& m, F f, std::source_location where) {
    auto const held = co_await m.lock(where);
    co_return std::invoke(f);
  }
};
template <class F, class T, class... Effects>
struct locked_call<F, eff<T, Effects...>> {
  static eff<T, syncing, Effects...> call(mutex& m, F f, std::source_location where) {
    auto const held = co_await m.lock(where);
    co_return co_await std::invoke(f);
  }
};
}  // namespace detail

/// What `f()` gives, while we have the mutex: a plain function, or one that returns an eff, whose
/// effects the result has too.
///
///     int const n = co_await with_lock(m, [&] { return ++count; });
///
/// `f` is kept until then, so it may be a closure that captures, also if it is a coroutine.
template <class F>
auto with_lock(mutex& m, F f, std::source_location where = std::source_location::current()) {
  constexpr bool is_a_function = std::invocable<F&>;
  static_assert(is_a_function,
                "weft: with_lock takes a mutex, and a function without arguments: not its result");
  if constexpr (is_a_function)
    return detail::locked_call<F>::call(m, std::move(f), where);
  else
    return detail::refused();
}

}  // namespace weft
