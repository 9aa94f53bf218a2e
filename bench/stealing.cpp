// SPDX-License-Identifier: MIT

/// What does it cost to have threads steal from each other?  On two threads unless stated
/// otherwise.  The least of all repetitions where both threads are busy, else the median.
///
///   owner/push+pop  The owner of a deque pushes and pops an item, without thieves.
///   yield/2         A thousand processes yield in turn: wall time over yields.
///   spawn/2/inside  A million processes with almost no work, all spawned by one: wall time over
///                   processes.
///   spawn/2/outside The same, all submitted by a third thread, which runs none of them.
///   skewed/2        Processes with a microsecond of work each, all spawned by one: wall time over
///                   processes.
///   wakeup          From the completion, by another thread, to the first instruction of the
///                   process that waited for it.  Every thread sleeps before.  One thread runs
///                   processes, as one thread waits in the rival.
///   wakeup/2        The same with two threads, one of which keeps sleeping.
///
/// Wall time is measured from before the threads start until they have ended.
///
/// The rivals:
///
///   vector+fence  A vector and an index, with a fence between the store and the load of the
///                 index.  A stack whose pop must be visible before it checks for thieves costs at
///                 least that, if it uses a fence.
///   mutex+condvar Hand-written coroutines, one queue, one lock (rivals_threads.hpp).
///   sharing       weft's other backend for several threads, the same program.
///   tbb           A `task_group` in an arena of two threads; the thread that starts the tasks is
///                 one of them, for spawn/2/outside too: it is a thread of ours that joins the
///                 arena.
///   one worker    The same program on one thread of the same backend: 0.5 is the best ratio.
///   condvar       A thread that waits on a condition variable itself.

#include "weft/sched/stealing.hpp"

#include <tbb/global_control.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/crowd.hpp"
#include "bench/harness.hpp"
#include "bench/newborns.hpp"
#include "bench/wakeups.hpp"
#include "weft/deque/chase_lev.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"

namespace {

using weft::eff;
using weft::schedule;
using weft::sharing;
using weft::spawn;
using weft::spawning;
using weft::stealing;
using weft::bench::crowd;
using weft::bench::launder;
using weft::bench::ns_between;
using weft::bench::process_woken;
using weft::bench::spawned_in_a_task_group;
using weft::bench::spawned_on;
using weft::bench::submitted_to;
using weft::bench::summary;
using weft::bench::thread_woken;
using weft::bench::whole;
using weft::bench::yields_by_hand;
using weft::bench::yields_on;

// ---- owner

class owner {
 public:
  void push(std::uint64_t x) { items_.push(x); }
  std::uint64_t pop() { return *items_.try_pop(); }

 private:
  weft::chase_lev<std::uint64_t> items_;
};

class fenced_vector {
 public:
  void push(std::uint64_t x) {
    items_[n_] = x;
    store(n_ + 1);
  }
  std::uint64_t pop() {
    store(n_ - 1);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    asm volatile("" : "+m"(n_));  // forces a load
    return items_[n_];
  }

 private:
  void store(std::size_t n) {
    n_ = launder(n);
    asm volatile("" : "+m"(n_));
  }
  std::vector<std::uint64_t> items_ = std::vector<std::uint64_t>(64);
  std::size_t n_ = 0;
};

/// One item stays in it, so that a pop never takes the last one.
template <class Stack>
weft::bench::make_work pushing_and_popping() {
  return [] {
    auto const stack = std::make_shared<Stack>();
    stack->push(0);
    return [stack, x = std::uint64_t{0}](std::size_t n) mutable {
      for (std::size_t i = 0; i != n; ++i) {
        stack->push(launder(x + i));
        x = x * 31 + stack->pop();
      }
      return x;
    };
  };
}

// ---- skewed

[[gnu::noinline]] std::uint64_t work(std::uint64_t x, int rounds) {
  for (int i = 0; i != rounds; ++i) x = launder(x * 6364136223846793005U + 1442695040888963407U);
  return x;
}
/// How many rounds take a microsecond.
int rounds_of_a_microsecond() {
  double least = 1e18;
  std::uint64_t x = 1;
  for (int i = 0; i != 20; ++i) {
    auto const begin = std::chrono::steady_clock::now();
    x = work(x, 100'000);
    least = std::min(least, ns_between(begin, std::chrono::steady_clock::now()));
  }
  return static_cast<int>(1000 * 100'000 / least) + static_cast<int>(launder(x) & 0);
}

/// Each worker has a place of its own for its result; the answer is the sum.
eff<void> worker(std::uint64_t* found, int rounds) {
  *found = work(*found, rounds);
  co_return;
}
eff<void, spawning<>> foreman(std::vector<std::uint64_t>* found, int rounds) {
  for (auto& f : *found) co_await spawn(worker, &f, rounds);
}
template <unsigned Threads>
std::uint64_t skewed(std::size_t n, int rounds) {
  std::vector<std::uint64_t> found(n);
  for (std::size_t i = 0; i != n; ++i) found[i] = i;
  schedule<stealing>({.threads = Threads}, [at = &found, rounds] { return foreman(at, rounds); });
  std::uint64_t sum = 0;
  for (auto const f : found) sum += f;
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite bench("stealing", argc, argv);

  static constexpr double least_fence = 3;
  bench.compare("owner/push+pop", pushing_and_popping<owner>(), "vector+fence",
                pushing_and_popping<fenced_vector>(), 1, least_fence);

  int const rounds = bench.is_quick() ? 20 : 4000;
  auto const yields = [rounds](std::uint64_t (*run)(crowd&)) {
    return [=] {
      crowd c(1000, rounds);
      return whole([&] { return run(c); });
    };
  };
  for (auto const& [name, rival] :
       {std::pair<std::string_view, std::uint64_t (*)(crowd&)>{"mutex+condvar", yields_by_hand},
        {"sharing", yields_on<sharing, 2>}})
    bench.compare_runs("yield/2", yields(yields_on<stealing, 2>), name, yields(rival),
                       crowd(1000, rounds).yields(), summary::least);

  tbb::global_control const two(tbb::global_control::max_allowed_parallelism, 2);
  int const processes = bench.is_quick() ? 10'000 : 1'000'000;
  bench.compare_runs(
      "spawn/2/inside", [=] { return whole([=] { return spawned_on<stealing>(processes); }); },
      "tbb", [=] { return whole([=] { return spawned_in_a_task_group(processes); }); },
      static_cast<std::size_t>(processes), summary::least);

  bench.compare_runs(
      "spawn/2/outside", [=] { return whole([=] { return submitted_to<stealing>(processes); }); },
      "tbb", [=] { return whole([=] { return spawned_in_a_task_group(processes); }); },
      static_cast<std::size_t>(processes), summary::least);

  std::size_t const workers = bench.is_quick() ? 1000 : 100'000;
  int const microsecond = rounds_of_a_microsecond();
  bench.compare_runs(
      "skewed/2", [=] { return whole([=] { return skewed<2>(workers, microsecond); }); },
      "one worker", [=] { return whole([=] { return skewed<1>(workers, microsecond); }); }, workers,
      summary::least);

  std::size_t const samples = bench.is_quick() ? 20 : 700;  // in a repetition; there are 15
  bench.compare_runs(
      "wakeup", [=] { return process_woken<stealing, 1>(samples); }, "condvar",
      [=] { return thread_woken(samples); }, 1);
  bench.compare_runs(
      "wakeup/2", [=] { return process_woken<stealing, 2>(samples); }, "condvar",
      [=] { return thread_woken(samples); }, 1);

  return bench.run();
}
