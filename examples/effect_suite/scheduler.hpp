// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <utility>
#include <variant>

#include <weft/effects/effects.hpp>

/// A job spawns n jobs; each of them yields once, and then ticks.  A thousand times; the answer is
/// the number of ticks.
///
/// The scheduler is a handler of the program's own (weft's own one is `schedule`).  `spawn` is a
/// value clause, which enqueues the new job.  `yield` is a control clause, which enqueues the
/// continuation of the job; as it keeps resumptions the handler is a region.  The queue is first
/// in, first out.  It measures jobs with almost no work: each is started under the handler,
/// suspended, resumed, and ends.
namespace effect_suite::scheduler {

using weft::eff;
using weft::handler;
using weft::op;
using weft::op_list;
using weft::region;
using weft::resumption;

struct jobs;
using job = eff<void, jobs>();

struct jobs {
  struct [[nodiscard]] spawn : op<void> {
    explicit spawn(job* j) : what(j) {}
    job* what;
  };
  struct [[nodiscard]] yield : op<void> {};
  struct [[nodiscard]] tick : op<void> {};
  using operations = op_list<spawn, yield, tick>;
};

// ---- the program

inline eff<void, jobs> yield_and_tick() {
  co_await jobs::yield{};
  co_await jobs::tick{};
}

inline eff<void, jobs> spawn_jobs(int n) {
  for (int i = 0; i < n; ++i) co_await jobs::spawn(yield_and_tick);
}

// ---- its handler

class first_in_first_out : public handler<jobs>, public region {
 public:
  void on(jobs::spawn s) { ready_.emplace_back(s.what); }
  void on(jobs::yield, resumption<void> rest) { ready_.emplace_back(std::move(rest)); }
  void on(jobs::tick) { ++ticks_; }

  /// Runs `first`, and then the queue until it is empty.  Returns the ticks.
  int run_all(eff<void, jobs> first) {
    run(handle(*this, std::move(first)));
    while (!ready_.empty()) {
      auto next = std::move(ready_.front());
      ready_.pop_front();
      if (auto* const rest = std::get_if<resumption<void>>(&next))
        resume(std::move(*rest));
      else
        run(handle(*this, std::get<job*>(next)));
    }
    return ticks_;
  }

 private:
  std::deque<std::variant<job*, resumption<void>>> ready_;
  int ticks_ = 0;
};

inline int program(int n) {
  int ticks = 0;
  for (int i = 0; i < 1000; ++i) {
    first_in_first_out queue;
    ticks += queue.run_all(spawn_jobs(n));
  }
  return ticks;
}

}  // namespace effect_suite::scheduler
