// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/dice.hpp"
#include "tests/support/disturbances.hpp"
#include "tests/support/tokens.hpp"
#include "tests/support/tokens_with_numbers.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/timing.hpp"
#include "weft/sched/tasks/scope.hpp"

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
