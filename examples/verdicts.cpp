// SPDX-License-Identifier: MIT

/// Examples of reports: for each way in which a program can end, the smallest program that ends so,
/// and the report of `explore`.
///
///   failed           the check fails, or a process has thrown
///   deadlock         all processes that are left wait: which, for what, and where
///   cut              the run was longer than allowed, which is neither good nor bad
///   nondeterminism   the same choices led elsewhere: at which step, with which candidates
///   leak             all processes have ended, and frames are left
///
/// `ok()` is true if there is none of these; a run that was cut only clears `complete`.

#include <functional>
#include <iostream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/sync/mutex.hpp>
#include <weft/testing/testing.hpp>

using namespace weft;

void print(std::string_view verdict, exploration const& found) {
  std::cout << "-- " << verdict << '\n' << found.report();
}

// ---- failed, by the check: of two processes that read, and write later, one is lost

eff<void, proc> increment(int& n) {
  int const seen = n;
  co_await proc::yield{};
  n = seen + 1;
}
eff<void, spawning<proc>> increment_twice(int& n) {
  co_await spawn(increment, std::ref(n));
  co_await spawn(increment, std::ref(n));
}

int zero() { return 0; }
bool is_two(int n) { return n == 2; }
bool any(int) { return true; }

// ---- failed, by an exception: the reader comes before the writer

eff<void, proc> writes(int& n) {
  co_await proc::yield{};
  n = 7;
}
eff<void, proc> reads(int const& n) {
  co_await proc::yield{};
  if (n == 0) throw std::runtime_error("there is nothing to read");
}
eff<void, spawning<proc>> writes_and_reads(int& n) {
  co_await spawn(writes, std::ref(n));
  co_await spawn(reads, std::cref(n));
}

// ---- deadlock: each process has the lock that the other one needs

struct two_locks {
  mutex left, right;
};

eff<void, proc, syncing> lock_both(mutex& first, mutex& second) {
  auto const one = co_await first.lock();
  co_await proc::yield{};
  auto const other = co_await second.lock();
}
eff<void, spawning<proc, syncing>> lock_crosswise(two_locks& l) {
  co_await spawn(lock_both, std::ref(l.left), std::ref(l.right));
  co_await spawn(lock_both, std::ref(l.right), std::ref(l.left));
}

// ---- cut: a process that loops until another one has changed something may loop for ever

eff<void, proc> goes_round(int const& n) {
  while (n == 0) co_await proc::yield{};
}
eff<void, spawning<proc>> writes_and_goes_round(int& n) {
  co_await spawn(writes, std::ref(n));
  co_await spawn(goes_round, std::cref(n));
}

// ---- nondeterminism: the program depends on how often it was run

int runs = 0;

eff<void, spawning<proc>> one_more_each_time(int& n) {
  ++runs;
  for (int i = 0; i <= runs; ++i) co_await spawn(writes, std::ref(n));
}

/// A path with three ready processes; here there are two.
schedule_path of_another_program() {
  schedule_path p;
  p.add(0);
  p.add(2);
  return p;
}

// ---- leak: a resumption is kept where it is never resumed, and outlives the run

struct sleepy : handler<proc> {
  explicit sleepy(std::vector<resumption<void>>& k) : kept(k) {}
  void on(proc::yield, resumption<void> k) { kept.push_back(std::move(k)); }
  void on(proc::fork, resumption<bool>) {}
  void on(proc::exit, resumption<never>) {}
  std::vector<resumption<void>>& kept;
};
eff<void> falls_asleep(std::vector<resumption<void>>& kept, int& n) {
  co_await handle<proc>(sleepy(kept), [&n] { return writes(n); });
}

// ---- the reports

eff<void> explorer() {
  print("failed: the check", explore(zero, increment_twice, is_two));
  print("failed: an exception", explore(zero, writes_and_reads, any));
  print("deadlock", explore([] { return two_locks(); }, lock_crosswise, [](two_locks const&) {}));
  print("cut", explore({.max_steps = 20}, zero, writes_and_goes_round, any));
  print("nondeterminism", explore(zero, one_more_each_time, any));
  print("nondeterminism: a path of another program",
        follow(of_another_program().text(), zero, increment_twice, any));
  std::vector<resumption<void>> kept;
  print("leak", explore(zero, [&kept](int& n) { return falls_asleep(kept, n); }, any));
  co_return;
}

int main(int argc, char** argv) { examples::backend(argc, argv).schedule(explorer); }
