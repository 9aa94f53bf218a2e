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

#include "effects/eff.hpp"
#include "sched/base/detail/deferred_events.hpp"
#include "sched/base/errors.hpp"
#include "sched/sync/gate.hpp"

namespace weft {

/// A value that several processes read and write, and wait for.
///
///     shared<int> ready(0);
///     co_await ready.update([](int& n) { ++n; });             // one process
///     co_await ready.wait_for([](int n) { return n == 3; });  // another
///
/// Each access is whole, on several threads too; between two of them others may have theirs:
/// what reads and then writes is one update.  Each is an operation, so who explores schedules sees
/// it; a plain variable that processes share is invisible to him.
///
/// The functions are plain ones, called while nobody else has access, on a lock of the system: let
/// them be short.  When one throws, the access does.  Who has had access cannot fork any more.
///
/// If it ends while processes wait for it, they find `cancelled`.  It belongs to one scheduler
/// while somebody waits.  One allocation, and for each access a frame from the pool.
template <class T>
class shared {
 public:
  /// Throws bad_alloc, and what T does.
  explicit shared(T first = T()) : state_(std::make_shared<shared_state>(std::move(first))) {}
  shared(shared const&) = delete;
  shared& operator=(shared const&) = delete;
  ~shared() {
    detail::cause_event("the end of a shared value", nullptr,
                        [s = std::move(state_)] { s->close(); });
  }

  /// A copy.  Lets nobody go first; nor do set and update.
  eff<T, syncing> get(std::source_location where = std::source_location::current()) {
    return gets(state_, where);
  }
  /// Who waits looks again: O(as many as do), as update.
  eff<void, syncing> set(T value, std::source_location where = std::source_location::current()) {
    return sets(state_, std::move(value), where);
  }
  /// What `f(value)` gives, with a T&.
  template <class F>
  auto update(F f, std::source_location where = std::source_location::current()) {
    constexpr bool is_an_update = std::invocable<F&, T&>;
    static_assert(is_an_update, "weft: update takes a function of the value, of a T&");
    if constexpr (is_an_update)
      return updates(state_, std::move(f), where);
    else
      return detail::refused();
  }
  /// Waits until `is_right(value)`, with a T const&: as it is, or after a set or an update.  A copy
  /// of the value that is.  What was right in between, and no longer is, may be missed.
  template <class Predicate>
  auto wait_for(Predicate is_right, std::source_location where = std::source_location::current()) {
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
    explicit shared_state(T first) : value(std::move(first)) { changed.belongs_to(*this); }
    virtual ~shared_state() = default;
    void close() noexcept {
      // Relaxed: who waits has asked the gate for its epoch before it looks here.
      closed.store(true, std::memory_order_relaxed);
      changed.release_all_now();
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
    std::optional<detail::holding> written;  // the same: by which process, and where
    std::atomic<bool> closed = false;
    gate changed;
  };
  /// Tells when we have no access any more.
  struct access_note {
    explicit access_note(shared_state& s) noexcept : of(s) {}
    access_note(access_note const&) = delete;
    access_note& operator=(access_note const&) = delete;
    ~access_note() { of.changed.release_all_now(); }
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
    // The touch comes first, so the cancellation that own() finds is looked up where we look at the
    // value: after our own events, and in one step with it.
    for (bool is_first = true;; is_first = false) {
      co_await detail::located(syncing::touch(&s->changed, false), where);
      if (is_first) co_await detail::located(syncing::own(), where);
      auto const seen = s->changed.epoch();
      {
        std::lock_guard const lock(s->access);
        if (std::invoke(is_right, std::as_const(s->value))) co_return std::as_const(s->value);
      }
      if (s->closed.load(std::memory_order_relaxed)) throw cancelled();  // relaxed: as above
      co_await detail::located(syncing::wait(s->changed, seen, detail::for_release()), where);
    }
  }

  state state_;
};

}  // namespace weft
