// SPDX-License-Identifier: MIT

/// What does it cost to divide work into tasks, and to wait for them?  The least of six runs,
/// interleaved; on one thread and on two.  The programs are those with which task libraries are
/// compared (github.com/tzcnt/runtime-benchmarks).  Both sides divide down to the same smallest
/// task; the tasks are counted before anything is timed.
///
///   fib/1, fib/2      Recursive fibonacci of 35: a task a call.  Wall time over tasks.
///   skynet/1, /2      A tree with ten children a node and a million leaves, which are summed.
///   nqueens/1, /2     All placements of 13 queens, a task for each safe one.
///   matmul/1, /2      A product of matrices of size 1024, halved down to 32.
///   parallel_for/2    Ten million elements, a nanosecond of work for each.  Wall time over
///                     elements.
///   cancel/..., when_any/..., timeout/...
///                     One cancellation of a scope, of the loser of a when_any, and by a timeout that
///                     has passed, beside 100 000 processes that wait; on one_thread, and on sharing
///                     and stealing with so many threads.
///   memory/skynet     The peak of resident megabytes of a process of the operating system that
///                     does nothing but skynet, on two threads.  It includes the C++ runtime.
///
/// The creation of threads and matrices is not timed: in those comparisons the executor exists
/// before, and has run the same program.  So the root task reads the clock, after it has run a
/// smaller program of the same kind.
///
///   1000 idle   The same beside 1000 processes: what a cancellation costs does not depend on them.
///   tbb   The same with parallel_invoke, task_group or parallel_for, in an arena with as many
///         threads.

#include <sys/resource.h>
#include <sys/wait.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness.hpp"
#include "bench/tasks_cancelling.hpp"
#include "bench/tasks_programs.hpp"
#include "bench/tasks_tbb.hpp"
#include "bench/tasks_weft.hpp"
#include "bench/threads.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"
#include "weft/sched/stealing.hpp"

namespace {

using weft::eff;
using weft::schedule;
using weft::stealing;
using weft::tasking;
using weft::bench::counted;
using weft::bench::elements;
using weft::bench::full_board;
using weft::bench::full_sizes;
using weft::bench::leaves_below;
using weft::bench::matrices;
using weft::bench::ns_between;
using weft::bench::sizes;
using weft::bench::small_board;
using weft::bench::small_sizes;
using weft::bench::summary;
using weft::bench::timed;
using weft::bench::uncounted;
using clock = std::chrono::steady_clock;
namespace ours = weft::bench::ours;
namespace tbbs = weft::bench::tbbs;

// ---- runners

/// `warm_up()` and `program()` return a computation; the answer is that of `program`, if any.
template <class WarmUp, class Program>
timed on_weft(unsigned threads, WarmUp warm_up, Program program) {
  timed t;
  schedule<stealing>({.threads = threads}, [&]() -> eff<void, tasking<>> {
    co_await warm_up();
    auto const begin = clock::now();
    if constexpr (std::is_void_v<typename decltype(program())::value_type>) {
      co_await program();
    } else {
      auto const answer = co_await program();
      t.answer = static_cast<std::uint64_t>(answer);
    }
    t.ns = ns_between(begin, clock::now());
  });
  return t;
}
/// The same for plain functions.
template <class WarmUp, class Program>
timed on_tbb(unsigned threads, WarmUp warm_up, Program program) {
  tbb::global_control const limit(tbb::global_control::max_allowed_parallelism, threads);
  tbb::task_arena arena(static_cast<int>(threads));
  timed t;
  arena.execute([&] {
    warm_up();
    auto const begin = clock::now();
    if constexpr (std::is_void_v<decltype(program())>)
      program();
    else
      t.answer = static_cast<std::uint64_t>(program());
    t.ns = ns_between(begin, clock::now());
  });
  return t;
}

// ---- programs

template <class Counting>
struct fib {
  static timed on_weft(unsigned threads, sizes n) {
    return ::on_weft(
        threads, [] { return ours::fib<uncounted>(small_sizes.fib); },
        [n] { return ours::fib<Counting>(n.fib); });
  }
  static timed on_tbb(unsigned threads, sizes n) {
    return ::on_tbb(
        threads, [] { return tbbs::fib<uncounted>(small_sizes.fib); },
        [n] { return tbbs::fib<Counting>(n.fib); });
  }
  static std::uint64_t answer(sizes n) {
    std::uint64_t a = 0;
    std::uint64_t b = 1;
    for (long i = 0; i != n.fib; ++i) b = std::exchange(a, a + b);
    return a;
  }
};

template <class Counting>
struct skynet {
  static timed on_weft(unsigned threads, sizes n) {
    return ::on_weft(
        threads, [] { return ours::skynet<uncounted>(0, small_sizes.skynet); },
        [n] { return ours::skynet<Counting>(0, n.skynet); });
  }
  static timed on_tbb(unsigned threads, sizes n) {
    return ::on_tbb(
        threads, [] { return tbbs::skynet<uncounted>(0, small_sizes.skynet); },
        [n] { return tbbs::skynet<Counting>(0, n.skynet); });
  }
  static std::uint64_t answer(sizes n) {
    std::uint64_t const leaves = leaves_below(n.skynet);
    return leaves * (leaves - 1) / 2;
  }
};

template <class Counting>
struct nqueens {
  static timed on_weft(unsigned threads, sizes n) {
    return n.fib == full_sizes.fib ? weft_on<full_board>(threads) : weft_on<small_board>(threads);
  }
  static timed on_tbb(unsigned threads, sizes n) {
    return n.fib == full_sizes.fib ? tbb_on<full_board>(threads) : tbb_on<small_board>(threads);
  }
  static std::uint64_t answer(sizes n) { return n.fib == full_sizes.fib ? 73'712 : 92; }

 private:
  template <std::size_t N>
  static timed weft_on(unsigned threads) {
    return ::on_weft(
        threads, [] { return ours::nqueens<uncounted, small_board>({}, 0); },
        [] { return ours::nqueens<Counting, N>({}, 0); });
  }
  template <std::size_t N>
  static timed tbb_on(unsigned threads) {
    return ::on_tbb(
        threads, [] { return tbbs::nqueens<uncounted, small_board>({}, 0); },
        [] { return tbbs::nqueens<Counting, N>({}, 0); });
  }
};

template <class Counting>
struct matmul {
  static timed on_weft(unsigned threads, sizes n) {
    matrices small(small_sizes.matrix);
    matrices all(n.matrix);
    timed t = ::on_weft(
        threads, [&] { return ours::matmul<uncounted>(small.all()); },
        [&] { return ours::matmul<Counting>(all.all()); });
    t.answer = all.answer();
    return t;
  }
  static timed on_tbb(unsigned threads, sizes n) {
    matrices small(small_sizes.matrix);
    matrices all(n.matrix);
    timed t = ::on_tbb(
        threads, [&] { tbbs::matmul<uncounted>(small.all()); },
        [&] { tbbs::matmul<Counting>(all.all()); });
    t.answer = all.answer();
    return t;
  }
  static std::uint64_t answer(sizes n) {
    matrices all(n.matrix);
    all.all().multiply();
    return all.answer();
  }
};

struct parallel_for {
  static timed on_weft(unsigned threads, sizes n) {
    elements small(small_sizes.elements);
    elements all(n.elements);
    timed t = ::on_weft(
        threads, [&] { return ours::step_each(small.all()); },
        [&] { return ours::step_each(all.all()); });
    t.answer = all.answer();
    return t;
  }
  static timed on_tbb(unsigned threads, sizes n) {
    elements small(small_sizes.elements);
    elements all(n.elements);
    timed t = ::on_tbb(
        threads, [&] { tbbs::step_each(small.all().data(), small_sizes.elements); },
        [&] { tbbs::step_each(all.all().data(), n.elements); });
    t.answer = all.answer();
    return t;
  }
  static std::uint64_t answer(sizes n) {
    elements all(n.elements);
    for (auto& x : all.all()) weft::bench::step(x);
    return all.answer();
  }
};

// ---- the number of tasks, and the memory

constexpr char const* for_peak = "--for-peak";
constexpr std::string_view quick = "--quick";

/// The number of tasks on each side; nullopt if the numbers differ, or an answer is wrong.
template <template <class> class Program>
std::optional<std::size_t> tasks_of(std::string_view name, sizes n) {
  using weft::bench::count;
  std::uint64_t const before = count::sum();
  std::uint64_t const ours = Program<counted>::on_weft(2, n).answer;
  std::uint64_t const our_tasks = count::sum() - before;
  std::uint64_t const theirs = Program<counted>::on_tbb(2, n).answer;
  std::uint64_t const their_tasks = count::sum() - before - our_tasks;
  std::uint64_t const answer = Program<uncounted>::answer(n);
  if (ours == answer && theirs == answer && our_tasks == their_tasks && our_tasks != 0)
    return our_tasks;
  std::fprintf(stderr, "%.*s: answers %ju and %ju for %ju, tasks %ju and %ju\n",
               static_cast<int>(name.size()), name.data(), std::uintmax_t{ours},
               std::uintmax_t{theirs}, std::uintmax_t{answer}, std::uintmax_t{our_tasks},
               std::uintmax_t{their_tasks});
  return std::nullopt;
}

/// Runs nothing but skynet, in the child process that peak_of() starts.
int run_for_peak(std::string_view who, sizes n) {
  timed const t =
      who == "weft" ? skynet<uncounted>::on_weft(2, n) : skynet<uncounted>::on_tbb(2, n);
  return t.answer == skynet<uncounted>::answer(n) ? 0 : 1;
}
/// The peak of such a process, in MB; nullopt if its answer was wrong.
std::optional<double> peak_of(char const* who, char const* how_large) {
  pid_t const child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "tasks", for_peak, who, how_large, nullptr);
    _exit(1);
  }
  int status = 1;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) return std::nullopt;
  return static_cast<double>(used.ru_maxrss) / 1024;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == for_peak)
    return run_for_peak(argv[2], std::string_view(argv[3]) == quick ? small_sizes : full_sizes);
  bool const is_quick = std::find(argv, argv + argc, quick) != argv + argc;
  sizes const n = is_quick ? small_sizes : full_sizes;
  // First, while this process is small: the peak of a child starts with the size of its parent.
  auto const our_peak = peak_of("weft", is_quick ? "--quick" : "");
  auto const their_peak = peak_of("tbb", is_quick ? "--quick" : "");
  if (!our_peak || !their_peak) {
    std::fprintf(stderr, "memory/skynet: the answer is wrong\n");
    return 1;
  }

  std::vector<char*> arguments(argv, argv + argc);
  std::string six = "--benchmark_repetitions=6";
  arguments.insert(arguments.begin() + 1, six.data());
  weft::bench::suite bench("tasks", static_cast<int>(arguments.size()), arguments.data());

  bool is_right = true;
  auto const compare = [&]<template <class> class Program>(std::string const& name) {
    auto const tasks = tasks_of<Program>(name, n);
    is_right = is_right && tasks;
    if (!tasks) return;
    for (unsigned const threads : {1U, 2U})
      bench.compare_runs(
          name + "/" + std::to_string(threads),
          [=] { return Program<uncounted>::on_weft(threads, n); }, "tbb",
          [=] { return Program<uncounted>::on_tbb(threads, n); }, *tasks, summary::least);
  };
  compare.operator()<fib>("fib");
  compare.operator()<skynet>("skynet");
  compare.operator()<nqueens>("nqueens");
  compare.operator()<matmul>("matmul");

  bench.compare_runs(
      "parallel_for/2", [=] { return parallel_for::on_weft(2, n); }, "tbb",
      [=] { return parallel_for::on_tbb(2, n); }, n.elements, summary::least);
  weft::bench::report_cancellations(bench, is_quick);
  bench.report("memory/skynet", *our_peak, "MB", "tbb", *their_peak);

  int const how = bench.run();
  return is_right ? how : 1;
}
