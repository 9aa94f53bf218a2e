// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/backends.hpp"
#include "weft/sched/backends/random_order.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"
#include "weft/sched/stealing.hpp"

/// For tests of programs on one thread and on several: the same program, the same set of outcomes.
/// Processes write their results to atomics, or to variables of their own; the test reads them when
/// the run has ended.
namespace weft::tests {

/// A backend to run a program on.
struct on_one_thread {
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
struct on_sharing {
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

template <unsigned N>
struct on_stealing {
  using backend = stealing;
  static constexpr unsigned threads = N;
  using options = stealing_options;
  static options how(bool log = false, std::stop_token stop = {}) {
    options o;
    o.threads = N;
    o.forkable = log;
    o.stop = std::move(stop);
    return o;
  }
};

/// Another backend, on the calling thread.
template <class Backend>
struct by_the_plain {
  using backend = Backend;
  static constexpr unsigned threads = 1;
  using options = schedule_options;
  static options how(bool log = false, std::stop_token stop = {}) {
    return on_one_thread::how(log, std::move(stop));
  }
};
using on_locked_queue = by_the_plain<locked_queue>;
using on_locked_stack = by_the_plain<locked_stack>;

/// Consecutive seeds, anew in each test case, so that a test case runs the same alone as among
/// others.  From 1 on; with WEFT_SEED=123 in the environment from 123.
inline std::uint64_t next_seed() {
  static std::mutex in_use;
  static std::string test;
  static std::uint64_t next = 0;
  std::lock_guard const lock(in_use);
  auto now = Catch::getResultCapture().getCurrentTestName();
  if (now != test) {
    char const* const given = std::getenv("WEFT_SEED");
    next = given ? std::stoull(given) : 1;
    test = std::move(now);
  }
  return next++;
}
/// In another random order each time.
struct in_random_order {
  using backend = random_order;
  static constexpr unsigned threads = 1;
  using options = random_order_options;
  static options how(bool log = false, std::stop_token stop = {}) {
    options o;
    o.seed = next_seed();
    o.forkable = log;
    o.stop = std::move(stop);
    return o;
  }
};

// For TEMPLATE_LIST_TEST_CASE, which names a test after the list and the position of the type in it,
// from 0.

/// The backends of the library, those with threads on two, and the simplest that keeps the laws.
using all_backends =
    std::tuple<on_one_thread, on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>>;

/// The options for virtual time.
template <class Where>
typename Where::options virtual_time(bool log = false, std::stop_token stop = {}) {
  auto o = Where::how(log, std::move(stop));
  o.virtual_time = true;
  return o;
}

/// Runs a program on that backend, to its end.
template <class Where, class Program, class... Handlers>
void run_on(typename Where::options how, Program p, Handlers&&... handlers) {
  schedule<typename Where::backend>(std::move(how), std::move(p),
                                    std::forward<Handlers>(handlers)...);
}
/// The same, for a program that does not fork.
template <class Where, class Program, class... Handlers>
void run_on(Program p, Handlers&&... handlers) {
  run_on<Where>(Where::how(), std::move(p), std::forward<Handlers>(handlers)...);
}
/// The same, for a program that forks.
template <class Where, class Program, class... Handlers>
void fork_on(Program p, Handlers&&... handlers) {
  run_on<Where>(Where::how(true), std::move(p), std::forward<Handlers>(handlers)...);
}

/// Whether a sanitizer makes everything slow.
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
/// How often a test does something at random: `in_full` times if the environment has WEFT_IN_FULL
/// (.ci/nightly), else as often as a test can that is run many times a day.
inline int rounds(int in_full) {
  static bool const is_in_full = std::getenv("WEFT_IN_FULL") != nullptr;
  if (is_in_full) return in_full;
  return is_sanitized ? in_full / 10 : in_full / 4;
}

/// Waits, in ordinary code, until another thread makes c true.
template <class Condition>
void until(Condition c) {
  while (!c()) std::this_thread::yield();
}

/// A count that processes on all threads share.
using counter = std::atomic<int>;

/// Counts the objects that are alive, copies included.
class lives {
 public:
  explicit lives(counter& n) noexcept : n_(&n) { ++*n_; }
  lives(lives const& other) noexcept : n_(other.n_) { ++*n_; }
  lives& operator=(lives const&) = delete;
  ~lives() { --*n_; }

 private:
  counter* n_;
};

/// Texts that processes on all threads add.
class findings {
 public:
  void add(std::string s) {
    std::lock_guard const lock(mutex_);
    all_.push_back(std::move(s));
  }
  /// Sorted.
  [[nodiscard]] std::vector<std::string> all() const {
    auto sorted = all_;
    std::ranges::sort(sorted);
    return sorted;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;
};

/// "0", "1", ... sorted as text.
inline std::vector<std::string> numbers(int n) {
  std::vector<std::string> all;
  for (int i = 0; i != n; ++i) all.push_back(std::to_string(i));
  std::ranges::sort(all);
  return all;
}

}  // namespace weft::tests
