// SPDX-License-Identifier: MIT

/// How fast are schedules explored, and how many need not be?
///
///   lost_update            Schedules a second.  Two processes read a number, yield, and write it
///                          back incremented.  Of the six schedules four lose an update.  Each is a
///                          run from the beginning, with a state and three processes of its own.
///                          Each search has a scheduler of its own, and runs two schedules again.
///   accesses/2 to /4       Schedules a second, of all schedules of two processes with that many
///                          accesses to one number, before each of which the other one may run: 20,
///                          70 and 252.  The rival: fibers and a stack of choices (rivals_search.hpp).
///   random_walk/1 to /3    Schedules a second, of random ones of the same program.
///   philosophers/4         Seconds for all schedules of four processes that each lock two mutexes,
///                          and yield after each lock.
///   philosophers/4/2       The same on two threads.
///   philosophers/4/reduced How many schedules are visited when equivalent ones are visited once:
///                          among them is the deadlock.
///   steps/8 to /512        ns a step, of two processes with that many steps each, in 200 schedules.
///   processes/10 to /1000  ns a step, of that many processes with five steps each.
///   memory/1k, /80k        The peak of allocated bytes in use, while that many schedules are
///                          visited, when the last process takes the other mutex first: all
///                          schedules end alike, and so the peak should not grow.
///
/// Failures are not shrunk.  Where no rival is named there is none.

#include <malloc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness.hpp"
#include "bench/rivals_search.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/testing/testing.hpp"

namespace {

bool counts = false;
std::ptrdiff_t in_use = 0;  // negative when blocks that were allocated before counting are freed
std::ptrdiff_t most_in_use = 0;

}  // namespace

// Replaces the allocator of the whole program, and of the frame pool.
void* operator new(std::size_t bytes) {
  void* const p = std::malloc(bytes);
  if (!p) throw std::bad_alloc();
  if (counts) {
    in_use += static_cast<std::ptrdiff_t>(malloc_usable_size(p));
    most_in_use = std::max(most_in_use, in_use);
  }
  return p;
}
void operator delete(void* p) noexcept {
  if (counts && p) in_use -= static_cast<std::ptrdiff_t>(malloc_usable_size(p));
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace {

using weft::eff;
using weft::exploration;
using weft::explore;
using weft::explore_options;
using weft::mutex;
using weft::proc;
using weft::spawn;
using weft::spawning;
using weft::syncing;
using weft::bench::whole;

eff<void, proc> increment(int& n) {
  int const seen = n;
  co_await proc::yield{};
  n = seen + 1;
}
eff<void, proc, spawning<proc>> increment_twice(int& n) {
  co_await spawn(increment, std::ref(n));
  co_await spawn(increment, std::ref(n));
}

std::uint64_t lost_update(std::size_t steps) {
  std::uint64_t answer = 0;
  for (std::size_t i = 0; i != steps; ++i) {
    auto const seen = explore(
        {.max_shrinking_runs = 0}, [] { return 0; }, increment_twice,
        [](int const& n) { return n == 2; });
    answer += static_cast<std::uint64_t>(seen.schedules * 10 + seen.failed);
  }
  return answer;
}

// Each access appends a digit to the number, so all orders of the accesses end differently.
constexpr unsigned base = 3;

eff<void, proc> appends(unsigned& n, unsigned who, unsigned accesses) {
  for (unsigned i = 0; i != accesses; ++i) {
    co_await proc::yield{};
    n = n * base + who;
  }
}
struct appending {
  unsigned const accesses;
  eff<void, spawning<proc>> operator()(unsigned& n) const {
    co_await spawn(appends, std::ref(n), 1U, accesses);
    co_await spawn(appends, std::ref(n), 2U, accesses);
  }
};
/// The same for the rival.
struct appending_threads {
  unsigned const accesses;
  std::function<void(unsigned)> const at_end;
  unsigned n = 0;
  void begin() { n = 0; }
  template <class Search>
  void thread(std::size_t i, Search& search) {
    for (unsigned k = 0; k != accesses; ++k) {
      search.before_access();
      n = n * base + static_cast<unsigned>(i + 1);
    }
  }
  void end() { at_end(n); }
};

/// Which numbers schedules have ended with.
class ends_seen {
 public:
  void note(unsigned n) { seen_.at(n) = true; }
  /// An answer that depends on all schedules.
  [[nodiscard]] std::uint64_t answer(std::size_t schedules) const {
    return 100 * schedules + static_cast<std::uint64_t>(std::ranges::count(seen_, true));
  }

 private:
  std::array<bool, base * base * base * base * base * base * base * base>
      seen_{};  // of eight digits
};
constexpr std::size_t searches = 1000;
constexpr std::size_t walks = 20'000;

/// All schedules, `searches` times.
std::uint64_t all_accesses(unsigned accesses) {
  ends_seen seen;
  std::size_t schedules = 0;
  for (std::size_t i = 0; i != searches; ++i)
    schedules += explore(
                     {.max_shrinking_runs = 0}, [] { return 0U; }, appending{accesses},
                     [&seen](unsigned n) { return seen.note(n), true; })
                     .schedules;
  return seen.answer(schedules);
}
std::uint64_t all_accesses_of_fibers(unsigned accesses) {
  ends_seen seen;
  appending_threads program{accesses, [&seen](unsigned n) { seen.note(n); }};
  std::size_t schedules = 0;
  for (std::size_t i = 0; i != searches; ++i)
    schedules += weft::bench::search_by_fibers(weft::bench::stack_of_choices(), program).run();
  return seen.answer(schedules);
}
/// Random schedules, so many that all orders of the accesses occur.
std::uint64_t random_accesses(unsigned accesses) {
  ends_seen seen;
  auto const found = weft::random_walk(
      {.max_schedules = walks, .max_shrinking_runs = 0}, [] { return 0U; }, appending{accesses},
      [&seen](unsigned n) { return seen.note(n), true; });
  return seen.answer(found.schedules);
}
std::uint64_t random_accesses_of_fibers(unsigned accesses) {
  ends_seen seen;
  appending_threads program{accesses, [&seen](unsigned n) { seen.note(n); }};
  return seen.answer(
      weft::bench::search_by_fibers(weft::bench::random_choices(walks), program).run());
}

eff<void, proc, syncing> dines(std::reference_wrapper<mutex> left,
                               std::reference_wrapper<mutex> right) {
  auto const first = co_await left.get().lock();
  co_await proc::yield{};
  auto const second = co_await right.get().lock();
  co_await proc::yield{};
}

/// All processes take the left mutex first; with `get_on` the last one does not, which avoids the
/// deadlock.
exploration philosophers(explore_options const& how, bool get_on = false) {
  static constexpr std::size_t guests = 4;
  using table = std::vector<mutex>;
  return explore(
      how, [] { return std::make_unique<table>(guests); },
      [get_on](std::unique_ptr<table>& forks) -> eff<void, spawning<proc, syncing>> {
        for (std::size_t i = 0; i != guests; ++i) {
          auto left = std::ref((*forks)[i]);
          auto right = std::ref((*forks)[(i + 1) % guests]);
          if (get_on && i + 1 == guests) std::swap(left, right);
          co_await spawn(dines, left, right);
        }
      },
      [](std::unique_ptr<table> const&) {});
}
constexpr std::size_t all_dinners = 82'396;
constexpr std::size_t deadlocks = 1'088;

std::uint64_t all_philosophers(unsigned threads) {
  auto const found = philosophers({.max_shrinking_runs = 0, .threads = threads});
  return found.schedules * 10'000 + found.deadlocks;
}
/// 0 if the deadlock is not found.
double reduced_schedules() {
  auto const found = philosophers({.reduce = true, .max_shrinking_runs = 0});
  bool const is_right = found.complete && found.deadlocks != 0 && !found.nondeterminism;
  return is_right ? static_cast<double>(found.schedules + found.redundant) : 0;
}
double bytes_at(std::size_t schedules) {
  in_use = most_in_use = 0;
  counts = true;
  auto const found = philosophers({.max_schedules = schedules}, true);
  counts = false;
  return found.schedules == schedules ? static_cast<double>(most_in_use) : 0;
}

/// Two processes of `steps` steps each, in as many schedules as it takes to time them.
constexpr std::size_t schedules_of_steps = 200;
eff<void, proc> does(std::size_t steps) {
  for (std::size_t i = 1; i < steps; ++i) co_await proc::yield{};
}
weft::bench::timed timed_steps(std::size_t steps) {
  auto const begin = std::chrono::steady_clock::now();
  auto const found = explore(
      {.max_schedules = schedules_of_steps, .max_steps = 4 * steps}, [] { return 0; },
      [steps](int&) -> eff<void, spawning<proc>> {
        co_await spawn(does, steps);
        co_await spawn(does, steps);
      },
      [](int const&) { return true; });
  std::chrono::duration<double, std::nano> const ns = std::chrono::steady_clock::now() - begin;
  return {ns.count(), found.ok() ? found.schedules : 0};
}

/// That many processes of five steps each, which are all ready at once.
weft::bench::timed timed_processes(std::size_t processes) {
  std::size_t const schedules = 100'000 / processes;
  auto const begin = std::chrono::steady_clock::now();
  auto const found = explore(
      {.max_schedules = schedules}, [] { return 0; },
      [processes](int&) -> eff<void, spawning<proc>> {
        for (std::size_t i = 0; i != processes; ++i) co_await spawn(does, 5);
      },
      [](int const&) { return true; });
  std::chrono::duration<double, std::nano> const ns = std::chrono::steady_clock::now() - begin;
  return {ns.count(), found.ok() ? found.schedules : 0};
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite bench("explore", argc, argv);
  constexpr std::size_t schedules = 6;
  constexpr std::size_t failed = 4;
  bench.measure_rate(
      "lost_update", [] { return lost_update; }, 1000 * (schedules * 10 + failed), schedules);
  for (auto const& [accesses, all] : {std::pair(2U, std::size_t{20}), {3U, 70}, {4U, 252}})
    bench.compare_rate_runs(
        "accesses/" + std::to_string(accesses),
        [=] { return whole([=] { return all_accesses(accesses); }); }, "fibers",
        [=] { return whole([=] { return all_accesses_of_fibers(accesses); }); }, searches * all);
  for (unsigned const accesses : {1U, 2U, 3U})
    bench.compare_rate_runs(
        "random_walk/" + std::to_string(accesses),
        [=] { return whole([=] { return random_accesses(accesses); }); }, "fibers",
        [=] { return whole([=] { return random_accesses_of_fibers(accesses); }); }, walks);
  for (unsigned const threads : {1U, 2U})
    bench.measure_seconds(
        threads == 1 ? "philosophers/4" : "philosophers/4/2",
        [threads] { return all_philosophers(threads); }, all_dinners * 10'000 + deadlocks);
  for (std::size_t const steps : {8U, 32U, 128U, 512U})
    bench.measure_runs(
        "steps/" + std::to_string(steps), [=] { return timed_steps(steps); }, schedules_of_steps,
        schedules_of_steps * (2 * steps + 1));
  for (std::size_t const processes : {10U, 100U, 1000U})
    bench.measure_runs(
        "processes/" + std::to_string(processes), [=] { return timed_processes(processes); },
        100'000 / processes, 100'000 / processes * (5 * processes + 1));
  double const reduced = reduced_schedules();
  bench.report("philosophers/4/reduced", reduced, "count");
  (void)bytes_at(1000);  // fills the frame pool
  double const few = bytes_at(1000);
  double const many = bytes_at(80'000);
  bench.report("memory/1k", few, "bytes");
  bench.report("memory/80k", many, "bytes");
  if (reduced == 0 || few == 0 || many == 0) return 1;
  return bench.run();
}
