// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <stop_token>
#include <thread>
#include <utility>

#include "effects/effects.hpp"
#include "sched/schedule.hpp"
#include "tests/support/frames.hpp"

/// For tests of programs on one thread and on several: the same program, the same set of outcomes.
/// What processes find they write to atomics, or where only one of them writes; the test looks when
/// they have ended.
namespace weft::tests {

/// Where a program runs.
struct alone {
  using backend = one_thread;
  static constexpr unsigned threads = 1;
  using options = schedule_options;
  static options how(bool log = false, std::stop_token stop = {}) {
    options o;
    o.forkable = log;
    o.stop = std::move(stop);
    return o;
  }
};
template <unsigned N>
struct shared_by {
  using backend = sharing;
  static constexpr unsigned threads = N;
  using options = sharing_options;
  static options how(bool log = false, std::stop_token stop = {}) {
    options o;
    o.threads = N;
    o.forkable = log;
    o.stop = std::move(stop);
    return o;
  }
};

/// Runs it there, to its end.
template <class Where, class Program, class... Handlers>
void run_on(typename Where::options how, Program p, Handlers&&... handlers) {
  schedule<typename Where::backend>(std::move(how), std::move(p),
                                    std::forward<Handlers>(handlers)...);
}
/// The same, of a program that does not fork.
template <class Where, class Program, class... Handlers>
void run_on(Program p, Handlers&&... handlers) {
  run_on<Where>(Where::how(), std::move(p), std::forward<Handlers>(handlers)...);
}
/// Of one that does.
template <class Where, class Program, class... Handlers>
void fork_on(Program p, Handlers&&... handlers) {
  run_on<Where>(Where::how(true), std::move(p), std::forward<Handlers>(handlers)...);
}

/// Whatever the sanitizer, about as long.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif
#else
inline constexpr bool is_sanitized = false;
#endif
constexpr int rounds(int usual) { return is_sanitized ? usual / 10 : usual; }

/// Waits, in ordinary code, for what another thread is about to do.
template <class Condition>
void until(Condition c) {
  while (!c()) std::this_thread::yield();
}

/// What processes count, on whatever thread.
using counter = std::atomic<int>;

/// Counts those alive, copied or not.
class lives {
 public:
  explicit lives(counter& n) noexcept : n_(&n) { ++*n_; }
  lives(lives const& other) noexcept : n_(other.n_) { ++*n_; }
  lives& operator=(lives const&) = delete;
  ~lives() { --*n_; }

 private:
  counter* n_;
};

}  // namespace weft::tests
