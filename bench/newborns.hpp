// SPDX-License-Identifier: MIT
#pragma once

#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <cstdint>
#include <thread>

#include "bench/harness.hpp"
#include "bench/threads.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/runtime/scheduler.hpp"
#include "weft/sched/schedule.hpp"

/// Many processes with almost no work, spawned inside or submitted from outside: on a backend for
/// several threads, and in a TBB task group.  TBB's second thread exists when a run begins; ours
/// does not.
namespace weft::bench {

[[gnu::noinline]] inline void do_next_to_nothing() {
  static thread_local count here;
  here.add();
}

inline eff<void> tiny() {
  do_next_to_nothing();
  co_return;
}
inline eff<void, spawning<>> spawner(int n) {
  auto const body = launder(&tiny);
  for (int i = 0; i != n; ++i) co_await spawn(body);
}
template <class Backend>
std::uint64_t spawned_on(int n) {
  std::uint64_t const before = count::sum();
  schedule<Backend>({.threads = 2}, [n] { return spawner(n); });
  return count::sum() - before;
}
/// The same, from a thread that runs no processes.
template <class Backend>
std::uint64_t submitted_to(int n) {
  std::uint64_t const before = count::sum();
  scheduler<Backend> all(typename Backend::options{.threads = 2});
  all.start([] { return tiny(); });
  std::thread outside([n, to = all.template submitter<>()] {
    auto const body = launder(&tiny);
    for (int i = 1; i < n; ++i) to.submit(body);  // the first process exists already
  });
  all.run();
  outside.join();
  return count::sum() - before;
}
inline std::uint64_t spawned_in_a_task_group(int n) {
  std::uint64_t const before = count::sum();
  auto const body = launder(&do_next_to_nothing);
  tbb::task_arena two(2);
  two.execute([n, body] {
    tbb::task_group group;
    for (int i = 0; i != n; ++i) group.run(body);
    group.wait();
  });
  return count::sum() - before;
}

}  // namespace weft::bench
