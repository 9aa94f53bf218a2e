// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/dice.hpp"
#include "tests/support/tokens.hpp"
#include "tests/support/tokens_with_numbers.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/timing.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/sched/tasks/shielded.hpp"
#include "weft/sched/tasks/task_handle.hpp"
#include "weft/sched/tasks/when_any.hpp"

/// One law for everything that a process can wait for (WAITER-5 of sched/sync/detail/waiter.hpp): a
/// wait is answered, or it is cancelled.  Processes take tokens, and are disturbed where they wait
/// for them.  At the end each token that was given has been taken once, or is still there; and no
/// process waits for a token that is there.
namespace weft::tests {

struct kind_of_tokens {
  char const* name;
  std::function<std::unique_ptr<tokens>(std::size_t most)> make;
  bool is_a_mutex = false;
};
inline std::vector<kind_of_tokens> const& kinds_of_tokens() {
  using by = tokens_at_a_gate::by;
  static std::vector<kind_of_tokens> const all{
      {"gate, released", [](auto) { return std::make_unique<tokens_at_a_gate>(by::release); }},
      {"gate, woken", [](auto) { return std::make_unique<tokens_at_a_gate>(by::wake); }},
      {"semaphore", [](auto) { return std::make_unique<tokens_of_a_semaphore>(false); }},
      {"semaphore in time", [](auto) { return std::make_unique<tokens_of_a_semaphore>(true); }},
      {"condition", [](auto) { return std::make_unique<tokens_at_a_condition>(); }},
      {"mutex", [](auto) { return std::make_unique<tokens_of_a_mutex>(); }, true},
      {"shared", [](auto) { return std::make_unique<tokens_in_a_shared_value>(); }},
      {"port", [](auto n) { return std::make_unique<tokens_in_a_port>(receiving::any, n + 1); }},
      {"port, next", [](auto) { return std::make_unique<tokens_in_a_port>(receiving::next, 1); }},
      {"full port", [](auto) { return std::make_unique<tokens_in_a_port>(receiving::any, 1); }},
      {"port in time",
       [](auto) { return std::make_unique<tokens_in_a_port>(receiving::in_time, 2); }},
      {"full port, sent in time",
       [](auto) {
         return std::make_unique<tokens_in_a_port>(receiving::any, 1, sending::in_time);
       }},
      {"port, both in time",
       [](auto) {
         return std::make_unique<tokens_in_a_port>(receiving::in_time, 1, sending::in_time);
       }},
      {"by id", [](auto) { return std::make_unique<tokens_by_id>(); }},
      {"select", [](auto) { return std::make_unique<tokens_in_two_ports>(false); }},
      {"select in time", [](auto) { return std::make_unique<tokens_in_two_ports>(true); }},
      {"completion", [](auto) { return std::make_unique<tokens_as_completions>(false); }},
      {"completion in time", [](auto) { return std::make_unique<tokens_as_completions>(true); }},
      {"outside gate", [](auto) { return std::make_unique<tokens_at_outside_gates>(); }},
      {"task handle", [](auto n) { return std::make_unique<tokens_from_tasks>(n); }},
  };
  return all;
}

// ---- disturbances of a wait

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

// ---- the law

struct law_plan {
  unsigned seed = 1;
  int rounds = 4;
  int impatient = 2;   // processes that are disturbed, each once a round
  int patient = 1;     // processes that are not, if several may take
  int most_given = 2;  // in a round
  /// The kind of all disturbances; `kinds`: any.
  disturbance how = disturbance::kinds;
  int most_yields = 6;
  /// A mutex is not fair: processes that always want it could keep the others waiting for ever.  So
  /// each process that is not disturbed locks it so many times.
  int turns = 20;
};

/// In each round some tokens are given, while processes that wait for them are disturbed.  After
/// the disturbance processes that are not disturbed take the remaining tokens.
class token_law {
 public:
  token_law(kind_of_tokens const& kind, law_plan const& p)
      : plan_(p), tokens_(kind.make(most_tokens())), had_(most_tokens()) {}

  [[nodiscard]] law_job run() {
    int left = 0;
    auto const all = [this, &left](auto& s) -> law_job {
      co_await tokens_->begin(s);
      bool const has_one_taker = tokens_->has_one_taker();
      if (!has_one_taker)
        for (int i = 0; i != plan_.patient; ++i)
          s.start([this]() -> law_job { co_await is_patient(); });
      dice next(plan_.seed);
      for (int i = 0; i != plan_.rounds && wrong_.empty(); ++i) co_await one_round(s, next);
      // Otherwise only a process that waits in vain would be reported.
      is_over_ = true;
      if (!wrong_.empty()) {
        tokens_->end();
        s.cancel();
        co_return;
      }
      if (!has_one_taker)
        for (int i = 0; i != plan_.patient; ++i) given_ += co_await tokens_->give(next_number_++);
      if (has_one_taker) {
        left = co_await tokens_->left();
        tokens_->end();
      }
    };
    co_await with_scope(all);
    if (!tokens_->has_one_taker()) left = co_await tokens_->left();
    if (wrong_.empty() && (left < 0 || (tokens_->are_counted() && given_ != taken_ + left)))
      wrong_ = counts() + ", " + std::to_string(left) + " left";
    is_at_its_end_ = true;
  }
  /// A failure of the law, or an empty string.
  [[nodiscard]] std::string what_is_wrong() const {
    if (!wrong_.empty()) return wrong_;
    return is_at_its_end_ ? "" : "it has not come to its end";
  }

 private:
  [[nodiscard]] std::size_t most_tokens() const {
    return static_cast<std::size_t>(plan_.rounds * plan_.most_given + plan_.patient);
  }
  struct disturbed_how {
    disturbance kind;
    int when;
  };
  [[nodiscard]] disturbed_how pick(dice& next) const {
    auto const any =
        static_cast<disturbance>(1 + next(static_cast<unsigned>(disturbance::kinds) - 1));
    return {plan_.how == disturbance::kinds ? any : plan_.how,
            static_cast<int>(next(static_cast<unsigned>(plan_.most_yields)))};
  }

  law_job one_round(law_scope& all, dice& next) {
    int const n = 1 + static_cast<int>(next(static_cast<unsigned>(plan_.most_given)));
    int const first = std::exchange(next_number_, next_number_ + n);
    auto const giving = pick(next);
    all.start([this, first, n, giving]() -> law_job { co_await gives(first, n, giving); });
    int const impatient = tokens_->has_one_taker() ? 1 : plan_.impatient;
    std::vector<disturbed_how> taking;
    for (int i = 0; i != impatient; ++i) taking.push_back(pick(next));
    auto const disturbed_ones = [&](auto& s) -> law_job {
      for (auto const how : taking)
        s.start([this, how]() -> law_job {
          (void)co_await disturbed(taken(), how.kind, how.when, by_giver_);
        });
      co_return;
    };
    co_await with_scope(disturbed_ones);
    // The remaining tokens.
    for (int i = 0; i != 1000 && !all_are_had(); ++i) {
      if (tokens_->has_one_taker())
        (void)co_await disturbed(taken(), disturbance::by_a_timeout, 1, by_giver_);
      else
        co_await timing::sleep_for(std::chrono::milliseconds(1));
    }
    if (!all_are_had()) wrong_ = counts();
    for (auto const& times : had_)
      if (!tokens_->are_alike() && times > 1)
        wrong_ = "one was had " + std::to_string(times) + " times";
  }
  [[nodiscard]] std::string counts() const {
    return std::to_string(given_) + " given, " + std::to_string(taken_) + " had";
  }
  /// Of the tokens that were to be given.  Each process locks a mutex in its turn.
  [[nodiscard]] bool all_are_had() const {
    return !tokens_->are_counted() || taken_ == next_number_;
  }

  /// Gives each token, again if the first attempt is disturbed.
  law_job gives(int first, int n, disturbed_how how) {
    for (int number = first; number != first + n; ++number) {
      disturbed_step const step = [this, number]() -> law<bool> {
        bool const is_given = co_await tokens_->give(number);
        if (is_given) ++given_;
        by_giver_.cancel_all();
        co_return true;
      };
      bool const is_done = co_await disturbed(step, how.kind, how.when, by_giver_);
      if (!is_done) (void)co_await step();
    }
  }
  disturbed_step taken() {
    return [this]() -> law<bool> {
      int const number = co_await tokens_->take();
      ++taken_;
      ++had_[static_cast<std::size_t>(number)];
      co_return true;
    };
  }
  law_job is_patient() {
    int const most = tokens_->are_counted() ? std::numeric_limits<int>::max() : plan_.turns;
    for (int i = 0; i != most && !is_over_; ++i) {
      auto const step = taken();
      (void)co_await step();
      co_await proc::yield{};
    }
  }

  law_plan const plan_;
  std::unique_ptr<tokens> const tokens_;
  std::atomic<int> given_ = 0;
  std::atomic<int> taken_ = 0;
  std::vector<std::atomic<int>> had_;
  std::atomic<bool> is_over_ = false;
  cancelled_by_the_giver by_giver_;
  int next_number_ = 0;
  bool is_at_its_end_ = false;
  std::string wrong_;
};

}  // namespace weft::tests
