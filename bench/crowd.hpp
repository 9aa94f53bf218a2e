// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>

#include "bench/harness.hpp"
#include "bench/rivals_ring.hpp"
#include "bench/rivals_threads.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

/// Many processes that yield in turn: on a backend for several threads, and by hand.
namespace weft::bench {

/// The size of a crowd, and the sum of the yields of its members.
class crowd {
 public:
  crowd(int processes, int rounds) : processes_(processes), rounds_(rounds) {}
  [[nodiscard]] int processes() const { return processes_; }
  [[nodiscard]] int rounds() const { return launder(rounds_); }
  [[nodiscard]] std::size_t yields() const {
    return static_cast<std::size_t>(processes_) * static_cast<std::size_t>(rounds_);
  }

  void leave(int id, std::uint64_t yields) {
    // Relaxed, as below: the reader has joined the threads.
    answer_.fetch_add((static_cast<std::uint64_t>(id) + 1) * yields, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t answer() const { return answer_.load(std::memory_order_relaxed); }

  void migrated(std::uint64_t times) { migrations_.fetch_add(times, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t migrations() const {
    return migrations_.load(std::memory_order_relaxed);
  }

 private:
  int processes_;
  int rounds_;
  std::atomic<std::uint64_t> answer_ = 0;
  std::atomic<std::uint64_t> migrations_ = 0;
};

/// n + 1; the compiler cannot add up a loop of these.
inline std::uint64_t after(std::uint64_t n) { return launder(n + 1); }

inline eff<void, yielding> yielder(crowd* c, int rounds, int id) {
  std::uint64_t done = 0;
  for (int i = 0; i != rounds; ++i) {
    co_await yielding::yield{};
    done = after(done);
  }
  c->leave(id, done);
}

template <auto Body>
eff<void, spawning<yielding>> spawn_all(crowd* c) {
  int const rounds = c->rounds();
  for (int id = 0; id != c->processes(); ++id) co_await spawn(Body, c, rounds, id);
}

template <class Backend, unsigned Threads, auto Body = yielder>
std::uint64_t yields_on(crowd& c) {
  schedule<Backend>({.threads = Threads}, [at = &c] { return spawn_all<Body>(at); });
  return c.answer();
}

// ---- by hand: coroutines that share one queue (rivals_threads.hpp)

struct yield_to {
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> running) const {
    return queue.yield(running);
  }
  void await_resume() const noexcept {}
  locked_queue& queue;
};
inline pooled_coroutine yielder_by_hand(locked_queue* queue, crowd* c, int rounds, int id) {
  std::uint64_t done = 0;
  for (int i = 0; i != rounds; ++i) {
    co_await yield_to{*queue};
    done = after(done);
  }
  c->leave(id, done);
  queue->leave();
}
inline std::uint64_t yields_by_hand(crowd& c) {
  locked_queue queue(static_cast<std::size_t>(c.processes()));
  int const rounds = c.rounds();
  for (int id = 0; id != c.processes(); ++id) queue.start(yielder_by_hand(&queue, &c, rounds, id));
  queue.run();
  return c.answer();
}

}  // namespace weft::bench
