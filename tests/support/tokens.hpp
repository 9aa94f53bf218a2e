// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/timing.hpp"
#include "weft/sched/tasks/scope.hpp"

/// Tokens that processes take, and wait for (wait_laws.hpp): interchangeable ones, at gates, locks
/// and shared values.
namespace weft::tests {

using law_tasks = tasking<proc, syncing, mail, routing, timing, completions>;
template <class T>
using law = eff<T, law_tasks, proc, syncing, mail, routing, timing, completions>;
using law_job = law<void>;
using law_scope = scope<proc, syncing, mail, routing, timing, completions>;

/// Tokens of one kind.  A process gives them in the order of their numbers, from 0 on.
class tokens {
 public:
  tokens() = default;
  tokens(tokens const&) = delete;
  tokens& operator=(tokens const&) = delete;
  virtual ~tokens() = default;

  /// Called first, by the process that takes tokens, if one process does.
  virtual law_job begin(law_scope&) { co_return; }
  /// Whether the token was given.
  virtual law<bool> give(int number) = 0;
  /// Waits for a token: its number, or 0 if tokens are interchangeable.
  virtual law<int> take() = 0;
  /// The number of tokens that are left, when no process waits for one any more.
  virtual law<int> left() = 0;
  /// Called after left().
  virtual void end() noexcept {}
  /// Whether only one process may take, or give.
  [[nodiscard]] virtual bool has_one_taker() const { return false; }
  /// Whether tokens are interchangeable.
  [[nodiscard]] virtual bool are_alike() const { return true; }
  /// Whether each given token is taken once.
  [[nodiscard]] virtual bool are_counted() const { return true; }
};

// ---- shared state

/// A condition made of a gate.
class tokens_at_a_gate final : public tokens {
 public:
  enum class by { release, wake };
  explicit tokens_at_a_gate(by how) : how_(how) {}
  law<bool> give(int) override {
    ++there_;
    if (how_ == by::release)
      at_.release();
    else
      co_await syncing::wake{at_};
    co_return true;
  }
  law<int> take() override {
    co_await at_.wait_while([this] { return !has_taken(); });
    co_return 0;
  }
  law<int> left() override { co_return there_; }

 private:
  bool has_taken() {
    for (int n = there_; n != 0;)
      if (there_.compare_exchange_weak(n, n - 1)) return true;
    return false;
  }
  by const how_;
  std::atomic<int> there_ = 0;
  gate at_;
};

class tokens_of_a_semaphore final : public tokens {
 public:
  explicit tokens_of_a_semaphore(bool in_time) : in_time_(in_time) {}
  law<bool> give(int) override {
    all_.release();
    co_return true;
  }
  law<int> take() override {
    if (!in_time_) {
      co_await all_.acquire();
      co_return 0;
    }
    for (bool has_one = false; !has_one;) {
      instant const now = co_await timing::now{};
      has_one = co_await all_.try_acquire_until(now + std::chrono::milliseconds(1));
    }
    co_return 0;
  }
  law<int> left() override {
    for (int n = 0;; ++n) {
      bool const has_one = co_await all_.try_acquire();
      if (!has_one) co_return n;
    }
  }

 private:
  bool const in_time_;
  semaphore all_{0};
};

/// Under a contended mutex, with a condition.
class tokens_at_a_condition final : public tokens {
 public:
  law<bool> give(int) override {
    auto const held = co_await own_.lock();
    ++there_;
    changed_.notify_one();
    co_return true;
  }
  law<int> take() override {
    auto held = co_await own_.lock();
    co_await changed_.wait(held, [this] { return there_ != 0; });
    --there_;
    co_return 0;
  }
  law<int> left() override {
    auto const held = co_await own_.lock();
    co_return there_;
  }

 private:
  mutex own_;
  condition changed_;
  int there_ = 0;
};

/// The token is the mutex itself, for a while.
class tokens_of_a_mutex final : public tokens {
 public:
  law<bool> give(int) override {
    auto const held = co_await own_.lock();
    co_await proc::yield{};
    co_return false;
  }
  law<int> take() override {
    auto const held = co_await own_.lock();
    co_await proc::yield{};
    co_return 0;
  }
  law<int> left() override {
    auto const held = co_await own_.try_lock();
    co_return held ? 0 : -1;
  }
  [[nodiscard]] bool are_counted() const override { return false; }

 private:
  mutex own_;
};

class tokens_in_a_shared_value final : public tokens {
 public:
  law<bool> give(int) override {
    co_await there_.update([](int& n) { ++n; });
    co_return true;
  }
  law<int> take() override {
    for (bool has_one = false; !has_one;) {
      co_await there_.wait_for([](int n) { return n != 0; });
      has_one = co_await there_.update([](int& n) { return n != 0 && n-- != 0; });
    }
    co_return 0;
  }
  law<int> left() override {
    int const n = co_await there_.get();
    co_return n;
  }

 private:
  shared<int> there_{0};
};

}  // namespace weft::tests
