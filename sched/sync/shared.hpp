// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/detail/internal.hpp"
#include "weft/effects/eff.hpp"
#include "weft/sched/base/decision.hpp"
#include "weft/sched/base/detail/deferred_events.hpp"
#include "weft/sched/base/detail/intrusive_list.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/process_id.hpp"
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
/// The functions passed in are plain functions, called under a lock while no other process has
/// access: keep them short.  If one throws, the access throws.  A process that has had access can
/// no longer fork.
///
/// If the object is destroyed while processes wait for it, they find `cancelled`.  While a process
/// waits, only processes of the same scheduler may use the object.  One allocation, and a frame
/// from the pool for each access.  Row: `syncing`.
template <class T>
class shared {
 public:
  /// Throws bad_alloc, and the exceptions of T's constructors.
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
  /// Sets the value, and wakes the waiters for which it is right; they check again in their turn.
  /// O(n) in the waiters: each predicate is called once.
  eff<void, syncing> set(T value, std::source_location where = std::source_location::current()) {
    return sets(state_, std::move(value), where);
  }
  /// Calls `f(value)`, where the value is a T& that `f` may change, and wakes waiters as set()
  /// does; `co_await` yields the result.  O(n) in the waiters.
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
  /// once, after each set or update by the process that has changed the value, and again when the
  /// waiting process goes on.  So the predicate may run on another thread; and if it reads other
  /// state than the value, a change of that state counts only at the next set or update.
  /// `co_await` yields a copy of the value that is right.  A value that is right only for a while
  /// may be missed.
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
  class waiter;
  /// The value, and the processes that wait until it is right for them.
  ///
  ///   SHARED-1  The members are accessed under `access`, a recursive mutex: if there is no memory
  ///       to make a process ready, the process may be unwound under the lock, and the destructor
  ///       of its waiter then locks again.
  ///   SHARED-2  Each waiter waits at a gate of its own.  A process that has changed the value asks
  ///       the predicate of each waiter, takes off the waiters for which it is right, and releases
  ///       their gates, all under the lock.  A process that goes on takes the lock before it
  ///       destroys its waiter: so the gate lives until its release is done.
  ///   SHARED-3  A process checks the value, enters the list of waiters, and reads the epoch of its
  ///       gate, all under one lock.  So it does not sleep if the value has changed since the
  ///       check.
  struct shared_state final : detail::gate_owner {
    explicit shared_state(T first) : value(std::move(first)) { detail::note_created(this); }
    virtual ~shared_state() { detail::note_destroyed(this); }
    void close() noexcept {
      detail::note_access(this, true);
      std::lock_guard const lock(access);
      closed = true;
      wake([](waiter const&) { return true; });
    }
    /// Wakes the waiters for which `goes_on(waiter&)` is true.
    template <class GoesOn>
    void wake(GoesOn const& goes_on) noexcept {
      detail::intrusive_list<waiter> woken;
      for (waiter *w = waiters.first(), *next = nullptr; w; w = next) {
        next = waiters.next(*w);
        if (goes_on(*w)) w->move_to(woken);
      }
      while (waiter* const w = woken.first()) {
        w->leave();
        w->at().release_now(detail::internal());
      }
    }
    [[nodiscard]] std::string_view call() const noexcept override {
      return "weft::shared::wait_for";
    }
    void describe(deadlock::waiter& w, std::size_t) const override {
      std::size_t n = 0;
      for (waiter const* each = waiters.first(); each; each = waiters.next(*each)) ++n;
      w.reason = "a shared value to be as its predicate says; it was last written ";
      w.reason +=
          written ? "by process " + written->process.text() + " at " + detail::text(written->since)
                  : "when it was made";
      w.reason += ": " + detail::text_of_waiters(n);
    }

    std::recursive_mutex access;
    T value;
    std::optional<detail::holding> written;  // the last writer, and the place of its call
    detail::intrusive_list<waiter> waiters;
    bool closed = false;
  };
  using state = std::shared_ptr<shared_state>;

  class waiter : public detail::list_entry<waiter> {
   public:
    /// Whether the value is right for the process of this waiter.
    using predicate = bool (*)(void* is_right, T const& value);

    waiter(shared_state& s, predicate call, void* is_right) noexcept
        : home_(s), call_(call), is_right_(is_right) {
      at_.belongs_to(detail::internal(), s);
    }
    waiter(waiter const&) = delete;
    waiter& operator=(waiter const&) = delete;
    ~waiter() {
      if (!has_entered_) return;
      std::lock_guard const lock(home_.access);  // waits until a release is done (SHARED-2)
      // A read, for explorers: an update before this would have woken the process.
      if (on_) detail::note_access(&home_, false);
      leave();
    }

    [[nodiscard]] gate& at() noexcept { return at_; }
    /// Whether the process is to be woken: the value is right, or the predicate throws.  In its
    /// turn the process calls the predicate itself, and so finds the exception.
    [[nodiscard]] bool goes_on() const noexcept {
      try {
        return call_(is_right_, std::as_const(home_.value));
      } catch (...) {
        return true;
      }
    }

    // ---- under the lock

    /// Enters the list of waiters.  Returns the epoch with which to wait.
    [[nodiscard]] std::uint64_t enter() noexcept {
      has_entered_ = true;
      if (!on_) move_to(home_.waiters);
      return at_.epoch();
    }
    void leave() noexcept {
      if (on_) std::exchange(on_, nullptr)->remove(*this);
    }
    void move_to(detail::intrusive_list<waiter>& to) noexcept {
      leave();
      on_ = &to;
      to.push_back(*this);
    }

   private:
    shared_state& home_;
    predicate const call_;
    void* const is_right_;
    gate at_;
    detail::intrusive_list<waiter>* on_ = nullptr;  // the list that the waiter is on
    bool has_entered_ = false;                      // accessed only by the waiting process
  };
  /// A change of the value: at its end, wakes the waiters for which the new value is right.
  class change {
   public:
    change(shared_state& s, process_id by, std::source_location where) : of_(s), lock_(s.access) {
      of_.written.emplace(by, where);
    }
    change(change const&) = delete;
    change& operator=(change const&) = delete;
    ~change() {
      detail::note_value(of_.value);
      of_.wake([](waiter const& w) { return w.goes_on(); });
    }

   private:
    shared_state& of_;
    std::lock_guard<std::recursive_mutex> const lock_;
  };

  static eff<T, syncing> gets(state s, std::source_location where) {
    co_await detail::located(syncing::own(s.get(), false, "weft::shared::get"), where);
    std::lock_guard const lock(s->access);
    detail::note_value(s->value);
    co_return std::as_const(s->value);
  }
  static eff<void, syncing> sets(state s, T value, std::source_location where) {
    auto const me =
        co_await detail::located(syncing::own(s.get(), true, "weft::shared::set"), where);
    change const now(*s, me, where);
    s->value = std::move(value);
  }
  template <class F>
  static eff<std::invoke_result_t<F&, T&>, syncing> updates(state s, F f,
                                                            std::source_location where) {
    auto const me =
        co_await detail::located(syncing::own(s.get(), true, "weft::shared::update"), where);
    change const now(*s, me, where);
    co_return std::invoke(f, s->value);
  }
  template <class Predicate>
  static eff<T, syncing> waits(state s, Predicate is_right, std::source_location where) {
    waiter me(
        *s,
        [](void* p, T const& value) -> bool {
          return std::invoke(*static_cast<Predicate*>(p), value);
        },
        std::addressof(is_right));
    static constexpr auto call = "weft::shared::wait_for";
    co_await detail::located(syncing::own(s.get(), false, call), where);
    for (;;) {
      std::uint64_t seen = 0;
      {
        std::lock_guard const lock(s->access);
        detail::note_value(s->value);
        if (std::invoke(is_right, std::as_const(s->value))) co_return std::as_const(s->value);
        if (s->closed) throw cancelled();
        seen = me.enter();
      }
      co_await detail::located(syncing::wait(me.at(), seen, detail::for_release()), where);
      co_await detail::located(syncing::touch(s.get(), false, call), where);
    }
  }

  state state_;
};

}  // namespace weft
