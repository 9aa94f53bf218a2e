// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "tests/support/tokens.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/sched/tasks/shielded.hpp"
#include "weft/sched/tasks/task_handle.hpp"
#include "weft/sched/tasks/when_any.hpp"

/// Disturbances of a wait, for the law of wait_laws.hpp.
namespace weft::tests {

struct leaving {
  struct now : op<never> {};
  using operations = op_list<now>;
};
/// Drops the continuation.
struct drops_the_rest : handler<leaving> {
  void on(leaving::now, resumption<never, void>) const {}
};

enum class disturbance : unsigned {
  nothing,
  by_its_scope,         // a sibling cancels the scope
  by_a_timeout,         // the wait is the scope's body, and its value the scope's result
  by_an_outer_timeout,  // the same in a scope inside a scope: the outer deadline passes
  by_an_inner_timeout,  // the inner one
  by_both_timeouts,     // both, at one instant
  in_a_shield,          // the same, of a scope in a shield in a scope whose deadline passes before
  by_a_failure,         // a sibling throws
  by_a_race,            // another task of when_any is first
  by_an_outer_race,     // a task of a when_any around that of the wait is first
  by_a_dropped_rest,    // a clause drops a resumption across the scope
  by_the_giver,         // the giver cancels the scope when it has given, in one step
  kinds
};

/// The scopes that a giving process cancels.
class cancelled_by_the_giver {
 public:
  class entry {
   public:
    entry(cancelled_by_the_giver& all, law_scope& s) : all_(all), scope_(&s) {
      std::lock_guard const lock(all_.mutex_);
      all_.scopes_.push_back(scope_);
    }
    entry(entry const&) = delete;
    entry& operator=(entry const&) = delete;
    ~entry() {
      std::lock_guard const lock(all_.mutex_);
      std::erase(all_.scopes_, scope_);
    }

   private:
    cancelled_by_the_giver& all_;
    law_scope* scope_;
  };
  void cancel_all() {
    std::lock_guard const lock(mutex_);
    for (auto* const s : scopes_) s->cancel();
  }

 private:
  std::mutex mutex_;
  std::vector<law_scope*> scopes_;
};

/// The step that may be disturbed; yields whether it was done.
using disturbed_step = std::function<law<bool>()>;

inline law_job yields_before(int n) {
  for (int i = 0; i != n; ++i) co_await proc::yield{};
}
inline law_job notes(disturbed_step const& step, std::atomic<bool>& is_done) {
  bool const done = co_await step();
  if (done) is_done = true;
}
inline law_job races(disturbed_step const& step, std::atomic<bool>& is_done, int n) {
  (void)co_await when_any(notes(step, is_done), yields_before(n));
}
/// The step, as the body of scopes with deadlines.
inline law<bool> ends_here(disturbed_step const& step, bool& has_ended) {
  bool const done = co_await step();
  has_ended = true;
  co_return done;
}
inline law<bool> in_scopes(disturbed_step const& step, bool& has_ended, disturbance how, int when) {
  using namespace std::chrono_literals;
  auto const body = [&](auto&) -> law<bool> { return ends_here(step, has_ended); };
  scope_options const soon{.timeout = std::chrono::milliseconds(when)};
  scope_options const later{.timeout = std::chrono::milliseconds(when + 1)};
  scope_options const far{.timeout = 1h};
  if (how == disturbance::by_a_timeout) co_return co_await with_scope(soon, body);
  scope_options const& inside = how == disturbance::by_an_outer_timeout ? far
                                : how == disturbance::in_a_shield       ? later
                                                                        : soon;
  auto const inner = [&]() -> law<bool> { co_return co_await with_scope(inside, body); };
  auto const outer = [&](auto&) -> law<bool> {
    if (how == disturbance::in_a_shield) co_return co_await shielded(inner);
    co_return co_await inner();
  };
  co_return co_await with_scope(how == disturbance::by_an_inner_timeout ? far : soon, outer);
}
inline law_job fails_after(int n) {
  co_await yields_before(n);
  throw std::runtime_error("disturbs");
}
inline law_job cancels_after(law_scope& s, int n) {
  co_await yields_before(n);
  s.cancel();
}
inline eff<void, leaving, law_job::effects> leaves_a_scope(disturbed_step const& step,
                                                           std::atomic<bool>& done, int n) {
  auto const body = [&](auto& s) -> law_job {
    s.start(notes, std::cref(step), std::ref(done));
    co_return;
  };
  auto const both = [&](auto& s) -> eff<void, leaving, law_job::effects> {
    s.start([&body]() -> law_job { co_await with_scope(body); });
    co_await yields_before(n);
    co_await leaving::now{};
  };
  co_await with_scope(both);
}

/// Whether the step was done, if it is disturbed after about `when` yields.
inline law<bool> disturbed(disturbed_step const& step, disturbance how, int when,
                           cancelled_by_the_giver& by_giver) {
  std::atomic<bool> is_done = false;
  bool has_ended = false;
  try {
    switch (how) {
      case disturbance::by_its_scope: {
        auto const body = [&](auto& s) -> law_job {
          s.start(notes, std::cref(step), std::ref(is_done));
          s.start(cancels_after, std::ref(s), when);
          co_return;
        };
        co_await with_scope(body);
        break;
      }
      case disturbance::by_a_timeout:
      case disturbance::by_an_outer_timeout:
      case disturbance::by_an_inner_timeout:
      case disturbance::by_both_timeouts:
      case disturbance::in_a_shield:
        is_done = co_await in_scopes(step, has_ended, how, when);
        break;
      case disturbance::by_a_failure: {
        auto const body = [&](auto& s) -> law_job {
          s.start(notes, std::cref(step), std::ref(is_done));
          s.start(fails_after, when);
          co_return;
        };
        co_await with_scope(body);
        break;
      }
      case disturbance::by_a_race: {
        (void)co_await when_any(notes(step, is_done), yields_before(when));
        break;
      }
      case disturbance::by_an_outer_race: {
        (void)co_await when_any(races(step, is_done, when + 1), yields_before(when));
        break;
      }
      case disturbance::by_a_dropped_rest: {
        co_await handle(drops_the_rest(), leaves_a_scope(step, is_done, when));
        break;
      }
      case disturbance::by_the_giver: {
        auto const body = [&](auto& s) -> law_job {
          cancelled_by_the_giver::entry const here(by_giver, s);
          task_handle<void> task;
          s.start(task, notes, std::cref(step), std::ref(is_done));
          co_await task;
        };
        // It may have given already.
        co_await with_scope({.timeout = std::chrono::milliseconds(when + 1)}, body);
        break;
      }
      default: {
        bool const done = co_await step();
        is_done = done;
      }
    }
  } catch (cancelled const&) {
    // A body that has ended without finding `cancelled` yields its result, whatever becomes of the
    // scopes around it.
    if (has_ended) throw std::logic_error("the result of a body that has ended was thrown away");
  } catch (std::runtime_error const&) {
  }
  co_return is_done;
}

}  // namespace weft::tests
