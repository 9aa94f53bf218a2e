// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>

#include "weft/effects/memory/frame_pool.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/scheduling_services.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/time_span.hpp"
#include "weft/sched/sync/detail/timers.hpp"
#include "weft/sched/sync/external_event.hpp"
#include "weft/sched/tasks/detail/scope_core.hpp"

namespace weft {

/// When a scope is cancelled: at the earlier of the two times.
struct scope_options {
  std::optional<instant> deadline = std::nullopt;   ///< At this instant.
  std::optional<time_span> timeout = std::nullopt;  ///< This long after the scope was opened.
};

namespace detail {

/// How a scope is cancelled from outside: at an instant, or when a stop is requested.
///
///   LIMIT-1  The canceller is a process of the library's own that has not begun: so it waits
///       without an operation and without a row, for an alarm, and for the event that the stop
///       token opens.  When one of them has taken it, it is ready; in its first turn it cancels the
///       scope. Only then is it counted among the processes: while it waits, it keeps no run alive.
///   LIMIT-2  The scope's end takes the canceller out of its waiter, and drops it.  If another
///       party has taken the canceller before, the state of the link, which scope and canceller
///       share, decides which is first: the turn of the canceller, or the end of the scope.  A
///       scope does not end while its canceller cancels it.  The waiter and the alarm lie in the
///       frame that opens the scope, not in the canceller's.
class scope_limit {
 public:
  using reason = scope_end_reason;

  scope_limit(scope_options const& how, std::stop_token asked) noexcept
      : how_(how), asked_(std::move(asked)), here_(&requested_), until_({}, here_.parked) {}
  scope_limit(scope_limit const&) = delete;
  scope_limit& operator=(scope_limit const&) = delete;
  ~scope_limit() { (void)end(); }

  /// Sets the alarm, and listens to the token.  Called by the clause that opens the scope.  `S` is
  /// a scheduler.  Throws bad_alloc.
  template <scheduling_services S>
  void begin(S& s, scope_core& c);
  /// Called when the scope is over, or its frame is unwound: withdraws the canceller.  Returns why
  /// the canceller has cancelled the scope; `none` if it has not.
  reason end() noexcept;

 private:
  struct link;
  /// Owns one of the two references to a link: that of the scope, or that of the canceller.
  class end_of_link {
   public:
    explicit end_of_link(link* l) noexcept : to_(l) {}
    end_of_link(end_of_link&& other) noexcept : to_(std::exchange(other.to_, nullptr)) {}
    end_of_link& operator=(end_of_link&&) = delete;
    inline ~end_of_link();
    [[nodiscard]] link* get() const noexcept { return to_; }

   private:
    link* to_;
  };
  static eff<void> cancels(end_of_link at);

  scope_options const how_;
  std::stop_token const asked_;
  std::optional<end_of_link> link_;
  external_event requested_;  // the event that the stop token opens
  room_waiter here_;          // holds the canceller; in a room only if a stop can be requested
  alarm until_;
  struct opens {
    external_event& what;
    void operator()() const noexcept;
  };
  std::optional<std::stop_callback<opens>> listening_;
};

struct scope_limit::link : pooled {
  link(scope_core& scope, external_event const& event) noexcept
      : of(scope), requested(event), home(*scope.home) {
    note_created(this);
  }
  link(link const&) = delete;
  link& operator=(link const&) = delete;
  ~link() { note_destroyed(this); }

  /// Cancels the scope, unless it is over.
  void fire() noexcept;
  /// Called when the scope is over.  Returns why the canceller has cancelled it; `none` if the
  /// canceller's turn did not come.
  [[nodiscard]] reason end() noexcept;

  enum class state : std::uint8_t { armed, at_it, done, over };
  scope_core& of;                   // not accessed once `is` is `over` or `done`
  external_event const& requested;  // not accessed once `is` is `over` or `done`
  scope_runner& home;
  reason why = reason::none;  // written before `is` becomes `done`
  std::atomic<state> is = state::armed;
  std::atomic<std::uint8_t> owners = 1;
};
scope_limit::end_of_link::~end_of_link() {
  // acq_rel: pairs with itself: the last owner, which deletes the link, sees all that the other has
  // done.
  if (to_ && to_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete to_;
}

template <scheduling_services S>
void scope_limit::begin(S& s, scope_core& c) {
  instant until = how_.deadline.value_or(instant::max());
  if (how_.timeout) until = std::min(until, time_after(current_time(s), *how_.timeout));
  if (until == instant::max() && !asked_.stop_possible()) return;
  link_.emplace(new link(c, requested_));
  if (asked_.stop_requested()) {
    requested_.open_now(internal());
    return link_->get()->fire();
  }
  link_->get()->owners.store(2, std::memory_order_relaxed);  // relaxed: not shared yet
  end_of_link its(link_->get());
  // This thunk keeps the canceller until the function returns: once the alarm is set, another
  // thread may run the canceller.  keep() adds the count of the waiter (PROCESS-1).
  thunk const canceller(s.new_uncounted_process(process_id::internal(++s.limits_made_),
                                                first_frame_of(cancels(std::move(its)))));
  if (asked_.stop_possible()) here_.spare = s.reserve_put();
  canceller.get()->keep();
  here_.parked.hold(*canceller.get());
  until_.at(until);
  if (until != instant::max() && !set_alarm(s, until_)) return;  // all processes are cancelled
  if (!asked_.stop_possible()) return;
  (void)enter_event(s, here_);
  listening_.emplace(asked_, opens{requested_});
}

}  // namespace detail
}  // namespace weft
