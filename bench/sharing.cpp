// SPDX-License-Identifier: MIT

/// What does it cost to share processes among threads?  Everything on two threads unless it says
/// otherwise.  The least of all repetitions where both are busy, else the median.
///
///   yield/2             A thousand processes yield in turn: wall time over yields.
///   yield/2/migrations  How many of those yields came back on the other thread, in one run.
///   yield/1             The same on one thread, beside the backend that knows no other.
///   spawn/2             A million processes that do next to nothing, all spawned by one: wall time
///                       over processes.
///   idle/2              What two threads cost for a second in which nothing can be done: processor
///                       time, of the whole program.
///   wakeup              From the completion, by a thread outside, to the first instruction of the
///                       process that waited for it.  Every thread is asleep before.  One thread
///                       runs processes, as one thread waits in the rival.
///   wakeup/2            The same with two threads, one of which sleeps on.
///
/// Wall time goes from before the threads are started until they have ended.
///
/// The rivals, beside those of rivals_threads.hpp:
///
///   boost.fiber  Fibers on two threads that share one queue, `algo::shared_work`.
///   tbb          A `task_group` in an arena of two threads.  Its second thread is there already
///                when a run begins; ours is not.
///   condvar      A thread that waits on a condition variable itself.
///
/// A yield of `mutex+condvar` is three times as fast while nobody else wants its lock.  So a
/// machine that gives us one core now and then makes the rival faster, and ours slower.

#include "sched/sharing.hpp"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <boost/fiber/algo/shared_work.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/harness.hpp"
#include "bench/rivals_fibers.hpp"
#include "bench/rivals_ring.hpp"
#include "bench/rivals_threads.hpp"
#include "bench/threads.hpp"
#include "effects/effects.hpp"
#include "sched/completion.hpp"
#include "sched/schedule.hpp"

namespace {

using namespace std::chrono_literals;
using weft::completer;
using weft::completing;
using weft::completion;
using weft::eff;
using weft::proc;
using weft::schedule;
using weft::sharing;
using weft::spawn;
using weft::spawning;
using weft::bench::all_others_sleep;
using weft::bench::count;
using weft::bench::fibers_left;
using weft::bench::launder;
using weft::bench::letter_box;
using weft::bench::locked_queue;
using weft::bench::pooled_coroutine;
using weft::bench::processor_ms;
using weft::bench::small_stacks;
using weft::bench::summary;
using weft::bench::this_thread;
using weft::bench::timed;

using clock = std::chrono::steady_clock;

double ns_between(clock::time_point from, clock::time_point to) {
  return std::chrono::duration<double, std::nano>(to - from).count();
}

/// Times all of it; the answer is what it returns.
template <class Run>
timed whole(Run run) {
  auto const begin = clock::now();
  std::uint64_t const answer = run();
  return {ns_between(begin, clock::now()), answer};
}

// ---- yield

/// So many who yield so often; and what they have done.
class crowd {
 public:
  crowd(int processes, int rounds) : processes_(processes), rounds_(rounds) {}
  [[nodiscard]] int processes() const { return processes_; }
  [[nodiscard]] int rounds() const { return launder(rounds_); }
  [[nodiscard]] std::size_t yields() const {
    return static_cast<std::size_t>(processes_) * static_cast<std::size_t>(rounds_);
  }

  void leave(int id, std::uint64_t yields) {
    // Relaxed, as below: who reads has joined the threads.
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

/// One more; to be counted one by one.
std::uint64_t after(std::uint64_t n) { return launder(n + 1); }

eff<void, proc> yielder(crowd* c, int rounds, int id) {
  std::uint64_t done = 0;
  for (int i = 0; i != rounds; ++i) {
    co_await proc::yield{};
    done = after(done);
  }
  c->leave(id, done);
}

eff<void, proc> migrant(crowd* c, int rounds, int id) {
  std::uint64_t done = 0, migrations = 0;
  char const* at = this_thread();
  for (int i = 0; i != rounds; ++i) {
    co_await proc::yield{};
    done = after(done);
    char const* const now_at = this_thread();
    if (now_at != at) ++migrations;
    at = now_at;
  }
  c->migrated(migrations);
  c->leave(id, done);
}

template <auto Body>
eff<void, spawning<proc>> all_of(crowd* c) {
  int const rounds = c->rounds();
  for (int id = 0; id != c->processes(); ++id) co_await spawn(Body, c, rounds, id);
}

template <unsigned Threads, auto Body = yielder>
std::uint64_t shared(crowd& c) {
  schedule<sharing>({.threads = Threads, .forkable = false},
                    [at = &c] { return all_of<Body>(at); });
  return c.answer();
}
std::uint64_t on_one_thread(crowd& c) {
  schedule({.forkable = false}, [at = &c] { return all_of<yielder>(at); });
  return c.answer();
}

struct yield_to {
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> running) const {
    return queue.yield(running);
  }
  void await_resume() const noexcept {}
  locked_queue& queue;
};
pooled_coroutine yielder_by_hand(locked_queue* queue, crowd* c, int rounds, int id) {
  std::uint64_t done = 0;
  for (int i = 0; i != rounds; ++i) {
    co_await yield_to{*queue};
    done = after(done);
  }
  c->leave(id, done);
  queue->leave();
}
std::uint64_t by_hand(crowd& c) {
  locked_queue queue(static_cast<std::size_t>(c.processes()));
  int const rounds = c.rounds();
  for (int id = 0; id != c.processes(); ++id) queue.start(yielder_by_hand(&queue, &c, rounds, id));
  queue.run();
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
  // Threads of their own: one keeps its algorithm for good.
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

// ---- spawn

[[gnu::noinline]] void do_next_to_nothing() {
  static thread_local count here;
  here.add();
}

eff<void> tiny() {
  do_next_to_nothing();
  co_return;
}
eff<void, spawning<>> spawner(int n) {
  auto const body = launder(&tiny);
  for (int i = 0; i != n; ++i) co_await spawn(body);
}
std::uint64_t spawned(int n) {
  std::uint64_t const before = count::sum();
  schedule<sharing>({.threads = 2, .forkable = false}, [n] { return spawner(n); });
  return count::sum() - before;
}
std::uint64_t in_a_task_group(int n) {
  std::uint64_t const before = count::sum();
  tbb::task_arena two(2);
  two.execute([n] {
    tbb::task_group group;
    for (int i = 0; i != n; ++i) group.run([] { do_next_to_nothing(); });
    group.wait();
  });
  return count::sum() - before;
}

// ---- idle

eff<void, completing> waiter(completion<int>* result, int* answer) {
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
    std::this_thread::sleep_for(100ms);  // until both have found that there is nothing to do
    double const before = processor_ms();
    std::this_thread::sleep_for(time);
    r.ms = processor_ms() - before;
    source.complete(1);
  });
  schedule<sharing>({.threads = 2, .forkable = false},
                    [&result, &r] { return waiter(&result, &r.answer); });
  outside.join();
  return r;
}

// ---- wakeup

/// A sleeper waits for one number after another, and a thread outside sends them.
class wakeups {
 public:
  explicit wakeups(std::size_t n) : ns_(n), sent_(n) {}
  [[nodiscard]] std::size_t count() const { return ns_.size(); }

  /// The sleeper's: before it waits for number i, and first thing after.
  void waits_for(std::size_t i) { waiting_for_.store(i + 1, std::memory_order_release); }  // [1]
  void woke(std::size_t i, std::uint64_t number) {
    auto const now = clock::now();
    ns_[i] = ns_between(sent_[i], now);
    answer_ = answer_ * 31 + number;
  }
  /// The other thread's.  `send(i)` makes number i come.
  template <class Send>
  void send_all(Send send) {
    for (std::size_t i = 0; i != count(); ++i) {
      do std::this_thread::sleep_for(200us);
      while (waiting_for_.load(std::memory_order_acquire) != i + 1 ||  // [1]
             !all_others_sleep());
      sent_[i] = clock::now();  // the sending makes it seen
      send(i);
    }
  }
  [[nodiscard]] timed median() {
    auto const middle = ns_.begin() + static_cast<std::ptrdiff_t>(count() / 2);
    std::nth_element(ns_.begin(), middle, ns_.end());
    return {*middle, answer_};
  }

 private:
  std::vector<double> ns_;
  std::vector<clock::time_point> sent_;
  std::atomic<std::size_t> waiting_for_ = 0;
  std::uint64_t answer_ = 0;
};

struct appointment {
  completer<std::uint64_t> source;
  completion<std::uint64_t> result = source.get_completion();
};
eff<void, completing> sleeper(wakeups* w, appointment* appointments) {
  for (std::size_t i = 0; i != w->count(); ++i) {
    w->waits_for(i);
    std::uint64_t const number = co_await appointments[i].result.wait();
    w->woke(i, number);
  }
}
template <unsigned Threads>
timed process_woken(std::size_t n) {
  wakeups w(n);
  auto const appointments = std::make_unique<appointment[]>(n);
  std::thread outside(
      [&] { w.send_all([&](std::size_t i) { appointments[i].source.complete(i); }); });
  schedule<sharing>({.threads = Threads, .forkable = false},
                    [at = &w, first = appointments.get()] { return sleeper(at, first); });
  outside.join();
  return w.median();
}
timed thread_woken(std::size_t n) {
  wakeups w(n);
  letter_box<std::uint64_t> box;
  std::thread outside([&] { w.send_all([&](std::size_t i) { box.put(i); }); });
  for (std::size_t i = 0; i != w.count(); ++i) {
    w.waits_for(i);
    std::uint64_t const number = box.wait();
    w.woke(i, number);
  }
  outside.join();
  return w.median();
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite bench("sharing", argc, argv);
  bool right = true;
  auto const wrong = [&](char const* what) {
    std::fprintf(stderr, "%s\n", what);
    right = false;
  };

  // First: no rival has started threads yet.
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
  compare_yields("yield/2", shared<2>, "mutex+condvar", by_hand, summary::least);
  compare_yields("yield/2", shared<2>, "boost.fiber", in_fibers, summary::least);
  compare_yields("yield/1", shared<1>, "one_thread", on_one_thread, summary::median);

  crowd migrating(1000, rounds);
  std::uint64_t const all_done = shared<2, migrant>(migrating);
  crowd staying(1000, rounds);
  if (all_done != on_one_thread(staying))
    wrong("yield/2/migrations: not all have yielded so often");
  bench.report("yield/2/migrations", static_cast<double>(migrating.migrations()), "count");

  tbb::global_control const two(tbb::global_control::max_allowed_parallelism, 2);
  int const processes = bench.is_quick() ? 10'000 : 1'000'000;
  bench.compare_runs(
      "spawn/2", [=] { return whole([=] { return spawned(processes); }); }, "tbb",
      [=] { return whole([=] { return in_a_task_group(processes); }); },
      static_cast<std::size_t>(processes), summary::least);

  std::size_t const samples = bench.is_quick() ? 20 : 700;  // a repetition; there are 15
  bench.compare_runs(
      "wakeup", [=] { return process_woken<1>(samples); }, "condvar",
      [=] { return thread_woken(samples); }, 1);
  bench.compare_runs(
      "wakeup/2", [=] { return process_woken<2>(samples); }, "condvar",
      [=] { return thread_woken(samples); }, 1);

  return bench.run() == 0 && right ? 0 : 1;
}
