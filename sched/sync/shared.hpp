// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <concepts>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/detail/internal.hpp"
#include "weft/effects/eff.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/sync/gate.hpp"

namespace weft {

/// A value that several processes read and write, and wait for.
///
///     shared<int> ready(0);
///     co_await ready.update([](int& n) { ++n; });             // one process
///     co_await ready.wait_for([](int n) { return n == 3; });  // another process
///
/// Each access is atomic, on several threads too; other processes may have access between two
/// accesses of a process, so read and write in one update.  Each access is an operation, so an
/// explorer of schedules sees it; a plain variable that processes share is invisible to the
/// explorer.
///
/// The functions passed in are plain ones, called under a std::mutex while no other process has
/// access: keep them short.  If one throws, the access throws.  A process that has had access can
/// no longer fork.
///
/// If the object is destroyed while processes wait for it, they find `cancelled`.  While a process
/// waits, only processes of the same scheduler may use the object.  One allocation, and a frame
/// from the pool for each access.  Row: `syncing`.
template <class T>
class shared {
 public:
  /// Throws bad_alloc, and what T's constructors throw.
  explicit shared(T first = T()) : state_(std::make_shared<shared_state>(std::move(first))) {}
  shared(shared const&) = delete;
  shared& operator=(shared const&) = delete;
  ~shared() {
    detail::cause_event("the end of a shared value", nullptr,
                        [s = std::move(state_)] { s->close(); });
  }

  /// `co_await` yields a copy.  Like set() and update(), it does not yield to other processes.
  eff<T, syncing> get(std::source_location where = std::source_location::current()) {
    return gets(state_, where);
  }
  /// Sets the value, and wakes all waiters, which check again.  O(n) in the waiters.
  eff<void, syncing> set(T value, std::source_location where = std::source_location::current()) {
    return sets(state_, std::move(value), where);
  }
  /// Calls `f(value)`, where the value is a T& that `f` may change, and wakes all waiters;
  /// `co_await` yields the result.  O(n) in the waiters.
  template <class F>
  [[nodiscard("weft: co_await it")]] awaits_to<detail::call_result_t<F&, T&>> auto update(
      F f, std::source_location where = std::source_location::current()) {
    constexpr bool is_an_update = std::invocable<F&, T&>;
    static_assert(is_an_update, "weft: update takes a function of the value, of a T&");
    if constexpr (is_an_update)
      return updates(state_, std::move(f), where);
    else
      return detail::refused();
  }
  /// Waits until `is_right(value)` returns true, where the value is a T const&; this is checked at
  /// once, and after each set or update.  `co_await` yields a copy of the value that is right.  A
  /// value that is right only for a while may be missed.
  template <class Predicate>
  [[nodiscard("weft: co_await it")]] awaits_to<T> auto wait_for(
      Predicate is_right, std::source_location where = std::source_location::current()) {
    constexpr bool is_a_predicate = std::predicate<Predicate&, T const&>;
    static_assert(is_a_predicate,
                  "weft: wait_for takes a predicate: a function of the value, of a T const&, that "
                  "says whether it is right");
    if constexpr (is_a_predicate)
      return waits(state_, std::move(is_right), where);
    else
      return detail::refused<T>();
  }

 private:
  struct shared_state final : detail::gate_owner {
    explicit shared_state(T first) : value(std::move(first)) {
      changed.belongs_to(detail::internal(), *this);
    }
    virtual ~shared_state() = default;
    void close() noexcept {
      // relaxed: a waiter reads the gate's epoch before it reads `closed`, so if it misses the
      // store, the release wakes it, and it looks again.
      closed.store(true, std::memory_order_relaxed);
      changed.release_all_now(detail::internal());
    }
    void describe(deadlock::waiter& w, std::size_t waiting) const override {
      w.reason = "a shared value to be as its predicate says; it was last written ";
      w.reason +=
          written ? "by process " + written->process.text() + " at " + detail::text(written->since)
                  : "when it was made";
      w.reason += ": " + detail::text_of_waiters(waiting);
    }

    std::mutex access;
    T value;                                 // under `access`
    std::optional<detail::holding> written;  // under `access`: the last writer, and where
    std::atomic<bool> closed = false;
    gate changed;
  };
  /// Wakes the waiters when the access is over.
  struct access_note {
    explicit access_note(shared_state& s) noexcept : of(s) {}
    access_note(access_note const&) = delete;
    access_note& operator=(access_note const&) = delete;
    ~access_note() { of.changed.release_all_now(detail::internal()); }
    shared_state& of;
  };
  using state = std::shared_ptr<shared_state>;

  static eff<T, syncing> gets(state s, std::source_location where) {
    co_await detail::located(syncing::touch(&s->changed, false), where);
    co_await detail::located(syncing::own(), where);
    std::lock_guard const lock(s->access);
    co_return std::as_const(s->value);
  }
  static eff<void, syncing> sets(state s, T value, std::source_location where) {
    co_await detail::located(syncing::touch(&s->changed, true), where);
    process_id const me = co_await detail::located(syncing::own(), where);
    access_note const at_the_end(*s);
    std::lock_guard const lock(s->access);
    s->written.emplace(me, where);
    s->value = std::move(value);
  }
  template <class F>
  static eff<std::invoke_result_t<F&, T&>, syncing> updates(state s, F f,
                                                            std::source_location where) {
    co_await detail::located(syncing::touch(&s->changed, true), where);
    process_id const me = co_await detail::located(syncing::own(), where);
    access_note const at_the_end(*s);
    std::lock_guard const lock(s->access);
    s->written.emplace(me, where);
    co_return std::invoke(f, s->value);
  }
  template <class Predicate>
  static eff<T, syncing> waits(state s, Predicate is_right, std::source_location where) {
    // own() checks whether the process is cancelled.  touch() comes before it, and begins a step
    // where schedules are explored.  So the check comes after the process's own events, and is in
    // one step with the read of the value.
    for (bool is_first = true;; is_first = false) {
      co_await detail::located(syncing::touch(&s->changed, false), where);
      if (is_first) co_await detail::located(syncing::own(), where);
      auto const seen = s->changed.epoch();
      {
        std::lock_guard const lock(s->access);
        if (std::invoke(is_right, std::as_const(s->value))) co_return std::as_const(s->value);
      }
      if (s->closed.load(std::memory_order_relaxed)) throw cancelled();  // relaxed: as in close()
      co_await detail::located(syncing::wait(s->changed, seen, detail::for_release()), where);
    }
  }

  state state_;
};

}  // namespace weft
