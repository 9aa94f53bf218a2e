// SPDX-License-Identifier: MIT

/// What does a fork cost?  The first of the two processes continues with the existing frames; the
/// other one runs the program again from the beginning, with the recorded answers.
///
///   replay/n       The program has performed n operations that a handler outside answers with an
///                  int.  ns a replayed operation: the time of the program that forks at the end,
///                  less that of the same program without the fork, divided by n.
///   replay/void/n  Operations with a void answer.
///   replay/yield/n Yields: in a replay they are operations like others.
///   fork/1         The same after one operation.  ns a fork, and its process's end.
///
/// There is no rival.  The two programs take turns, and the result is the median of the
/// differences: a change of the clock rate affects both, and a turn that was interrupted does not
/// matter.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/harness.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

namespace {

using weft::eff;
using weft::handler;
using weft::op;
using weft::op_list;
using weft::proc;
using weft::schedule;
using weft::bench::launder;
using weft::bench::timed;

struct source {
  struct get : op<int> {};
  struct tick : op<void> {};
  using operations = op_list<get, tick>;
};
class counting : public handler<source> {
 public:
  int on(source::get) { return ++count_; }
  void on(source::tick) { ++count_; }

 private:
  int count_ = 0;
};

/// The last step: each process adds what it knows.
eff<void, proc> end(bool forks, std::uint64_t known, std::uint64_t* sum) {
  if (forks) {
    bool const first = co_await proc::fork{};
    *sum += first ? 1 : 2;
  }
  *sum += known;
}

using program = eff<void, proc, source>(int n, bool forks, std::uint64_t* sum);

eff<void, proc, source> gets(int n, bool forks, std::uint64_t* sum) {
  std::uint64_t known = 0;
  for (int i = 0; i != n; ++i) {
    int const got = co_await source::get{};
    known += static_cast<std::uint64_t>(got);
  }
  co_await end(forks, known, sum);
}
eff<void, proc, source> ticks(int n, bool forks, std::uint64_t* sum) {
  for (int i = 0; i != n; ++i) co_await source::tick{};
  co_await end(forks, static_cast<std::uint64_t>(n), sum);
}
eff<void, proc, source> yields(int n, bool forks, std::uint64_t* sum) {
  for (int i = 0; i != n; ++i) co_await proc::yield{};
  co_await end(forks, static_cast<std::uint64_t>(n), sum);
}

using clock = std::chrono::steady_clock;
constexpr std::size_t turns = 101;

/// For either program: long enough for the clock, and short enough to be rarely interrupted.
constexpr std::size_t runs_a_turn(int n) { return 1 + 5000 / (static_cast<std::size_t>(n) + 10); }

clock::duration turn(program* p, int n, bool forks, std::uint64_t* sum) {
  auto const before = clock::now();
  for (std::size_t i = 0; i != runs_a_turn(n); ++i)
    schedule([=] { return p(n, forks, sum); }, counting());
  return clock::now() - before;
}

/// How much longer a turn takes with forks.
timed forking(program* p, int n) {
  std::array<clock::duration, turns> longer{};
  std::uint64_t sum = 0;
  for (auto& by : longer) {
    by = -turn(launder(p), n, false, &sum);
    by += turn(launder(p), n, true, &sum);
  }
  auto const median = longer.begin() + turns / 2;
  std::nth_element(longer.begin(), median, longer.end());
  return {std::chrono::duration<double, std::nano>(*median).count(), sum};
}

/// A process that does not fork adds `known`; with a fork there are two, which add 1 and 2 too.
constexpr std::uint64_t answer(int n, std::uint64_t known) {
  return turns * runs_a_turn(n) * (3 * known + 3);
}
constexpr std::uint64_t sum_up_to(int n) {
  auto const last = static_cast<std::uint64_t>(n);
  return last * (last + 1) / 2;
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite bench("fork", argc, argv);
  auto const measure = [&](std::string const& which, program* p, int n, std::uint64_t known,
                           int items) {
    bench.measure_runs(
        which, [=] { return forking(p, n); }, answer(n, known),
        runs_a_turn(n) * static_cast<std::size_t>(items));
  };
  constexpr int many = 10'000;
  measure("replay/100", gets, 100, sum_up_to(100), 100);
  measure("replay/1k", gets, 1'000, sum_up_to(1'000), 1'000);
  measure("replay/10k", gets, many, sum_up_to(many), many);
  measure("replay/100k", gets, 100'000, sum_up_to(100'000), 100'000);
  measure("replay/void/10k", ticks, many, many, many);
  measure("replay/yield/10k", yields, many, many, many);
  measure("fork/1", gets, 1, sum_up_to(1), 1);
  return bench.run();
}
