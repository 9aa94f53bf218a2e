// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <exception>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/eff.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/detail/worker_state.hpp"
#include "weft/sched/sync/external_event.hpp"

namespace weft {

/// Thrown by a wait whose completer was destroyed without completing.
struct [[gnu::visibility("default")]] completion_dropped : std::exception {
  [[nodiscard]] char const* what() const noexcept override {
    return "weft: a completion will not come: its completer was destroyed without one";
  }
};

namespace detail {

/// The state that a completer and its completion share; the two are its owners.
template <class T>
class shared_completion : public pooled {
 public:
  result_slot<T> value;  // written before the event is opened
  external_event gate;

  void release() noexcept {
    // acq_rel: pairs with itself: the last owner, which deletes the state, sees all accesses of the
    // other owner.
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  std::atomic<unsigned char> owners_ = 2;
};

/// The reference of one of the two owners to the shared state.
template <class T>
class completion_end {
 public:
  completion_end(completion_end&& other) noexcept : to_(std::exchange(other.to_, nullptr)) {}
  completion_end& operator=(completion_end other) noexcept {
    std::swap(to_, other.to_);
    return *this;
  }
  ~completion_end() {
    if (to_) to_->release();
  }
  explicit completion_end(shared_completion<T>* s) noexcept : to_(s) {}
  [[nodiscard]] shared_completion<T>* get() const noexcept { return to_; }
  shared_completion<T>* operator->() const noexcept { return to_; }
  void reset() noexcept {
    if (to_) std::exchange(to_, nullptr)->release();
  }

 private:
  shared_completion<T>* to_;
};

template <class T>
struct timed_value : identity<std::optional<T>> {};
template <>
struct timed_value<void> : identity<bool> {};
/// The result of a wait with a deadline: a std::optional<T>; for void a bool.
template <class T>
using if_in_time = typename timed_value<T>::type;

}  // namespace detail

template <class T>
class completer;

/// A value that comes from outside the scheduler; a process waits for it.
///
///     completer<int> source;
///     completion<int> result = source.get_completion();
///     std::thread([s = std::move(source)]() mutable { s.complete(42); }).detach();
///     int const n = co_await result.wait();
///
/// A completion is completed once, from any thread, before or after the wait begins.  Only the
/// waiting process is suspended: its thread runs other processes meanwhile, or sleeps.  Waiting for
/// a value that is there already takes one atomic load, if the process is outside all handlers and
/// keeps no log.  If the completer is destroyed without completing, the wait throws
/// completion_dropped; so every wait ends.  The wait seals (operation.hpp): a process that has
/// waited cannot fork.  A value that owns its own completion is never freed, like an object that
/// holds a shared_ptr to itself.
///
/// Two allocations from the pool: the shared state, and the frame of the wait.
template <class T>
class [[nodiscard]] completion {
 public:
  /// Waits for the value; `co_await` yields it, once.  Throws the exception that was passed to
  /// completer::fail(); completion_dropped if the completer was destroyed without completing;
  /// std::logic_error if the value was taken before, or another process waits.  A wait that is
  /// cancelled takes nothing, so the completion can be waited for again.  This object must outlive
  /// the wait.
  eff<T, completions> wait() {
    waiting now(*this);
    if (!now.to->gate.is_open() || !detail::worker_state::may_go_on())
      co_await completions::wait{now.to->gate};
    now.has_come = true;
    co_return now.to->value.take();
  }
  /// Waits for the value, but until `t` at the latest.  `co_await` yields a std::optional<T>, which
  /// is empty if the value has not come by then; for void it yields a bool, which is then false.
  /// In that case the completion can be waited for again.  O(log n) in the waiters with a deadline.
  /// Throws as wait() does.
  eff<detail::if_in_time<T>, completions> wait_until(instant t) {
    waiting now(*this);
    now.has_come = now.to->gate.is_open() && detail::worker_state::may_go_on();
    // The value may also come after the alarm has woken the process, and before its turn.
    if (!now.has_come)
      now.has_come = co_await completions::wait_until(now.to->gate, t) || now.to->gate.is_open();
    if (!now.has_come) co_return detail::if_in_time<T>();
    if constexpr (std::is_void_v<T>) {
      now.to->value.take();
      co_return true;
    } else {
      co_return now.to->value.take();
    }
  }
  /// Whether the value was taken, or the completion was moved from.
  [[nodiscard]] bool is_spent(detail::internal) const noexcept { return !to_.get(); }
  /// Whether a wait would end at once, with the value or an exception.  Thread safe.
  [[nodiscard]] bool is_ready() const noexcept { return !to_.get() || to_->gate.is_open(); }

 private:
  friend class completer<T>;
  explicit completion(detail::completion_end<T> to) noexcept : to_(std::move(to)) {}
  [[nodiscard]] detail::completion_end<T> required() {
    if (!to_.get())
      throw std::logic_error("weft: a completion is waited for twice, or was moved from");
    return std::move(to_);
  }

  /// One wait: it holds the completion's end, and puts it back unless the value has come.
  struct waiting {
    explicit waiting(completion& c) : of(c), to(c.required()) {}
    waiting(waiting const&) = delete;
    waiting& operator=(waiting const&) = delete;
    ~waiting() {
      if (!has_come) of.to_ = std::move(to);
    }
    completion& of;
    detail::completion_end<T> to;
    bool has_come = false;
  };

  detail::completion_end<T> to_;
};

/// The end of a completion that gives the value: move it to the thread or the callback that will
/// have the value.  A completer may be used by one thread at a time.
template <class T>
class completer {
 public:
  /// One allocation, from a pool.  Throws bad_alloc.
  completer() : completer(new detail::shared_completion<T>()) {}
  completer(completer&&) noexcept = default;
  completer& operator=(completer other) noexcept {
    std::swap(to_, other.to_);
    std::swap(unclaimed_, other.unclaimed_);
    return *this;
  }
  ~completer() {
    if (to_.get()) fail(std::make_exception_ptr(completion_dropped()));
  }

  /// The end that waits for the value.  Throws std::logic_error if it is called a second time.
  [[nodiscard]] completion<T> get_completion() {
    if (!unclaimed_.get()) throw std::logic_error("weft: a completer has one completion");
    return completion<T>(std::move(unclaimed_));
  }

  /// Completes with T(args...): the process that waits, now or later, goes on with that value.  If
  /// that constructor throws, complete() throws the same exception, and may be called again.
  /// Throws std::logic_error if the completer has completed before.
  template <class... Args>
  void complete(Args&&... args) {
    require_open();
    to_->value.set(std::forward<Args>(args)...);
    open();
  }
  /// Completes with an exception, which the wait throws.  Throws std::logic_error if the completer
  /// has completed before.
  void fail(std::exception_ptr error) {
    require_open();
    to_->value.fail(std::move(error));
    open();
  }
  /// Whether the completer can still complete: false once it has, or was moved from.
  [[nodiscard]] bool is_open() const noexcept { return to_.get() != nullptr; }

 private:
  explicit completer(detail::shared_completion<T>* s) noexcept : to_(s), unclaimed_(s) {}
  void require_open() const {
    if (!to_.get())
      throw std::logic_error(
          "weft: a completer completes once, and this one has, or was moved from");
  }
  void open() {
    if (detail::event_deferrer::of_thread) [[unlikely]] {
      void const* const at = &to_->gate;
      auto opens = [to = std::move(to_)] { to->gate.open_now(detail::internal()); };
      return detail::cause_event("a completion", at, std::move(opens));
    }
    to_->gate.open_now(detail::internal());
    to_.reset();
  }

  detail::completion_end<T> to_;
  detail::completion_end<T> unclaimed_;  // the end that get_completion() takes
};

}  // namespace weft
