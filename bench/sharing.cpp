// SPDX-License-Identifier: MIT

/// What does it cost to share processes among threads?  On two threads unless stated otherwise.
/// The least of all repetitions where both threads are busy, else the median.
///
///   yield/2            A thousand processes yield in turn: wall time over yields.
///   yield/2/migrations How many of those yields continued on the other thread, in one run.
///   yield/1            The same on one thread, beside the backend for one thread.
///   spawn/2            A million processes with almost no work, all spawned by one: wall time over
///                      processes.
///   idle/2             The processor time that the program uses in a second in which two threads
///                      have nothing to do.
///   wakeup             From the completion, by another thread, to the first instruction of the
///                      process that waited for it.  Every thread sleeps before.  One thread runs
///                      processes, as one thread waits in the rival.
///   wakeup/2           The same with two threads, one of which keeps sleeping.
///
/// Wall time is measured from before the threads start until they have ended.
///
/// The rivals, beside those of rivals_threads.hpp:
///
///   boost.fiber Fibers on two threads that share one queue, `algo::shared_work`.
///   tbb         A `task_group` in an arena of two threads.  TBB's second thread exists when a run
///               begins; ours does not.
///   condvar     A thread that waits on a condition variable itself.
///
/// A yield of `mutex+condvar` is three times as fast while its lock is uncontended.  So a machine
/// that withholds one core now and then makes the rival faster, and weft slower.

#include "weft/sched/sharing.hpp"

#include <tbb/global_control.h>

#include <boost/fiber/algo/shared_work.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>
#include <thread>

#include "bench/crowd.hpp"
#include "bench/harness.hpp"
#include "bench/newborns.hpp"
#include "bench/rivals_fibers.hpp"
#include "bench/threads.hpp"
#include "bench/wakeups.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/completion.hpp"

namespace {

using namespace std::chrono_literals;
using weft::completer;
using weft::completion;
using weft::completions;
using weft::eff;
using weft::schedule;
using weft::sharing;
using weft::yielding;
using weft::bench::after;
using weft::bench::crowd;
using weft::bench::fibers_left;
using weft::bench::process_woken;
using weft::bench::processor_ms;
using weft::bench::small_stacks;
using weft::bench::spawn_all;
using weft::bench::spawned_in_a_task_group;
using weft::bench::spawned_on;
using weft::bench::summary;
using weft::bench::this_thread;
using weft::bench::thread_woken;
using weft::bench::timed;
using weft::bench::whole;
using weft::bench::yielder;
using weft::bench::yields_by_hand;
using weft::bench::yields_on;

// ---- yield

eff<void, yielding> migrant(crowd* c, int rounds, int id) {
  std::uint64_t done = 0, migrations = 0;
  char const* at = this_thread();
  for (int i = 0; i != rounds; ++i) {
    co_await yielding::yield{};
    done = after(done);
    char const* const now_at = this_thread();
    if (now_at != at) ++migrations;
    at = now_at;
  }
  c->migrated(migrations);
  c->leave(id, done);
}

std::uint64_t on_one_thread(crowd& c) {
  schedule([at = &c] { return spawn_all<yielder>(at); });
  return c.answer();
}

void yield_in_a_fiber(fibers_left* all, crowd* c, int rounds, int id) {
  std::uint64_t done = 0;
  for (int i = 0; i != rounds; ++i) {
    boost::this_fiber::yield();
    done = after(done);
  }
  c->leave(id, done);
  all->leave();
}
std::uint64_t in_fibers(crowd& c) {
  fibers_left all(c.processes());
  // On threads of their own: a thread keeps its algorithm for good.
  std::thread first([&] {
    boost::fibers::use_scheduling_algorithm<boost::fibers::algo::shared_work>();
    int const rounds = c.rounds();
    for (int id = 0; id != c.processes(); ++id)
      boost::fibers::fiber(std::allocator_arg, small_stacks(), yield_in_a_fiber, &all, &c, rounds,
                           id)
          .detach();
    all.wait();
  });
  std::thread second([&] {
    boost::fibers::use_scheduling_algorithm<boost::fibers::algo::shared_work>();
    all.wait();
  });
  first.join();
  second.join();
  return c.answer();
}

// ---- idle

eff<void, completions> waiter(completion<int>* result, int* answer) {
  *answer = co_await result->wait();
}

struct idled {
  double ms = 0;
  int answer = 0;
};
idled idle_for(std::chrono::milliseconds time) {
  idled r;
  completer<int> source;
  completion<int> result = source.get_completion();
  std::thread outside([&] {
    std::this_thread::sleep_for(100ms);  // until both threads have found nothing to do and sleep
    double const before = processor_ms();
    std::this_thread::sleep_for(time);
    r.ms = processor_ms() - before;
    source.complete(1);
  });
  schedule<sharing>({.threads = 2}, [&result, &r] { return waiter(&result, &r.answer); });
  outside.join();
  return r;
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite bench("sharing", argc, argv);
  bool right = true;
  auto const wrong = [&](char const* what) {
    std::fprintf(stderr, "%s\n", what);
    right = false;
  };

  // First, while no rival has started threads.
  idled const idle = idle_for(bench.is_quick() ? 100ms : 1000ms);
  if (idle.answer != 1) wrong("idle/2: the process did not get its answer");
  bench.report("idle/2", idle.ms, "ms");

  int const rounds = bench.is_quick() ? 20 : 4000;
  auto const compare_yields = [&](std::string_view which, std::uint64_t (*subject)(crowd&),
                                  std::string_view rival_name, std::uint64_t (*rival)(crowd&),
                                  summary of) {
    auto const timed_run = [=](std::uint64_t (*run)(crowd&)) {
      return [=] {
        crowd c(1000, rounds);
        return whole([&] { return run(c); });
      };
    };
    bench.compare_runs(which, timed_run(subject), rival_name, timed_run(rival),
                       crowd(1000, rounds).yields(), of);
  };
  compare_yields("yield/2", yields_on<sharing, 2>, "mutex+condvar", yields_by_hand, summary::least);
  compare_yields("yield/2", yields_on<sharing, 2>, "boost.fiber", in_fibers, summary::least);
  compare_yields("yield/1", yields_on<sharing, 1>, "one_thread", on_one_thread, summary::median);

  crowd migrating(1000, rounds);
  std::uint64_t const all_done = yields_on<sharing, 2, migrant>(migrating);
  crowd staying(1000, rounds);
  if (all_done != on_one_thread(staying))
    wrong("yield/2/migrations: not all have yielded so often");
  bench.report("yield/2/migrations", static_cast<double>(migrating.migrations()), "count");

  tbb::global_control const two(tbb::global_control::max_allowed_parallelism, 2);
  int const processes = bench.is_quick() ? 10'000 : 1'000'000;
  bench.compare_runs(
      "spawn/2", [=] { return whole([=] { return spawned_on<sharing>(processes); }); }, "tbb",
      [=] { return whole([=] { return spawned_in_a_task_group(processes); }); },
      static_cast<std::size_t>(processes), summary::least);

  std::size_t const samples = bench.is_quick() ? 20 : 700;  // in a repetition; there are 15
  bench.compare_runs(
      "wakeup", [=] { return process_woken<sharing, 1>(samples); }, "condvar",
      [=] { return thread_woken(samples); }, 1);
  bench.compare_runs(
      "wakeup/2", [=] { return process_woken<sharing, 2>(samples); }, "condvar",
      [=] { return thread_woken(samples); }, 1);

  return bench.run() == 0 && right ? 0 : 1;
}
