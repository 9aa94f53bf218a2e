// SPDX-License-Identifier: MIT

/// The rival: a deque of state machines, as one writes them without coroutines.  A job is an object
/// that stores its state, and whose next step is a virtual function; the compiler does not know its
/// class at the queue, nor the scheduler's class where a job spawns or ticks.  Jobs come from the
/// same pool as weft's frames.

#include "examples/effect_suite/scheduler.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "bench/effect_suite/rows.hpp"
#include "bench/harness.hpp"
#include "weft/effects/memory/frame_pool.hpp"

namespace {

using weft::bench::either;
using weft::bench::launder;

constexpr int input = 3000;
constexpr std::uint64_t answer = 3'000'000;

class machine;

class scheduler {
 public:
  virtual ~scheduler() = default;
  virtual void spawn(std::unique_ptr<machine> m) = 0;
  virtual void tick() = 0;
  /// Runs until no machine is left, and returns the ticks.
  virtual int run_all() = 0;
};

class machine : public weft::detail::pooled {
 public:
  virtual ~machine() = default;
  /// Runs to the next yield, and returns true; or to the end, and returns false.
  virtual bool yields(scheduler& s) = 0;
};

class yield_and_tick final : public machine {
 public:
  bool yields(scheduler& s) override {
    if (!std::exchange(has_yielded_, true)) return true;
    s.tick();
    return false;
  }

 private:
  bool has_yielded_ = false;
};

class spawn_jobs final : public machine {
 public:
  explicit spawn_jobs(int n) : n_(n) {}
  bool yields(scheduler& s) override {
    for (int i = 0; i < n_; ++i) s.spawn(std::make_unique<yield_and_tick>());
    return false;
  }

 private:
  int n_;
};

template <int>
class first_in_first_out final : public scheduler {
 public:
  void spawn(std::unique_ptr<machine> m) override { ready_.push_back(std::move(m)); }
  void tick() override { ++ticks_; }
  int run_all() override {
    while (!ready_.empty()) {
      auto next = std::move(ready_.front());
      ready_.pop_front();
      if (next->yields(*this)) ready_.push_back(std::move(next));
    }
    return ticks_;
  }

 private:
  std::deque<std::unique_ptr<machine>> ready_;
  int ticks_ = 0;
};

std::uint64_t handled() {
  return static_cast<std::uint64_t>(effect_suite::scheduler::program(launder(input)));
}
std::uint64_t by_hand() {
  int ticks = 0;
  for (int i = 0; i != 1000; ++i) {
    auto const queue = either<scheduler, first_in_first_out>();
    queue->spawn(std::make_unique<spawn_jobs>(launder(input)));
    ticks += queue->run_all();
  }
  return static_cast<std::uint64_t>(ticks);
}

}  // namespace

void weft::bench::effect_suite_scheduler(suite& bench) {
  bench.compare_seconds("scheduler", handled, "deque of machines", by_hand, answer);
}
