// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "weft/effects/multi_resumption.hpp"
#include "weft/sched/backends/detail/injection_queue.hpp"
#include "weft/sched/backends/detail/portable_rng.hpp"
#include "weft/sched/base/backend.hpp"

namespace weft {

/// How a program is run in a random order.
struct random_order_options {
  std::uint64_t seed = 1;  ///< The same seed gives the same order.
  // The other fields are those of schedule_options.
  std::optional<bool> forkable{};
  std::size_t log_limit = detail::replay_log::usual_limit;
  std::stop_token stop{};
  bool virtual_time = false;
  std::size_t max_processes = 0;
  overflow_policy when_full = overflow_policy::fail;
  weft::trace* trace = nullptr;
};

/// A backend for tests: one schedule, drawn at random.
///
///     schedule<random_order>({.seed = 7}, program, handlers...);
///
/// It runs on the calling thread.  At each step each ready process is equally likely to run.  No
/// process has precedence: the release of a lock, or the wake-up of a gate, makes all processes
/// ready that wait there, and the first of them that runs gets the lock.  A sender goes on after
/// its send, as under explore: there is no hand-over.
///
/// For programs with their own state and handlers: a whole example, or one too large to be run
/// often.  It checks nothing and records no path.  explore runs a small program in all orders.
/// random_walk runs a larger one in as many orders as it is allowed to, and shrinks one that fails.
///
/// Deterministic on every machine, as long as no other thread puts anything (BACKEND-3).  O(1) a
/// step.  Allocates when more processes are ready than ever before, and a node for each put by
/// another thread.
class random_order {
 public:
  static constexpr unsigned wakes = ~0U;
  static constexpr bool hands_over = false;
  using options = random_order_options;  ///< The options of this backend.

  class worker {
   public:
    worker(random_order& home, unsigned) : injected_(home.injected_), rng_(home.seed_) {}

    void put(thunk&& t, put_reason) { put_in(std::move(t)); }
    thunk take(instant until, quiescence_test quiescent) {
      if (injected_.has_news())
        if (!injected_.fetch(*this)) return thunk::reason::stopped;
      if (ready_.empty())
        if (auto w = injected_.wait(*this, until, quiescent); !w.has_come)
          return std::move(w.instead);
      std::swap(ready_[rng_.below(ready_.size())], ready_.back());
      thunk t = std::move(ready_.back());
      ready_.pop_back();
      return t;
    }

    [[nodiscard]] bool try_leave() noexcept { return injected_.try_leave(); }
    void come_back() noexcept { injected_.come_back(); }

   private:
    friend class detail::injection_queue;
    void put_in(thunk&& t) { ready_.push_back(std::move(t)); }
    [[nodiscard]] bool is_empty() const noexcept { return ready_.empty(); }

    detail::injection_queue& injected_;
    detail::portable_rng rng_;
    std::vector<thunk> ready_;  // the ready processes, in no particular order
  };

  random_order() : random_order(options()) {}
  explicit random_order(options const& o) noexcept : seed_(o.seed) {}
  random_order(random_order const&) = delete;
  random_order& operator=(random_order const&) = delete;

  void put(thunk&& t, put_reason) { injected_.put(std::move(t)); }
  [[nodiscard]] static detail::spare_node reserve() {
    return std::make_unique<detail::injection_node>();
  }
  void put(thunk&& t, put_reason, detail::spare_node in) noexcept {
    injected_.put(std::move(t), std::move(in));
  }
  /// Always returns an empty thunk: a search would be O(n).
  thunk claim(process*) noexcept { return thunk::reason::quiescent; }
  void stop() { injected_.stop(); }
  void on_wakeup(std::function<void()> f) { injected_.set_waker(std::move(f)); }

 private:
  std::uint64_t const seed_;
  detail::injection_queue injected_;
};
static_assert(leaving_backend<random_order> && configurable_backend<random_order>);

}  // namespace weft
