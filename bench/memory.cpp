// SPDX-License-Identifier: MIT

/// How much memory does a waiting process take?  A million processes, each suspended at its first
/// yield.  Resident bytes a process: its frame, its process object, its place in the queue, and the
/// overhead of the pool and of malloc.
///
///   suspended/1M           Spawned, not forkable, performs proc only.
///   suspended/1M/row2      The same with one more effect in its row,
///   suspended/1M/row6      and with five more.
///   suspended/1M/forkable  It keeps a log.
///
/// Each case is measured in a fresh child process of the operating system, so none reuses memory
/// that another one has freed.  There is no rival.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <utility>

#include "bench/harness.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

namespace {

using weft::eff;
using weft::forkable;
using weft::op;
using weft::op_list;
using weft::proc;
using weft::scheduler;
using weft::spawn;
using weft::spawning;

constexpr int processes = 1'000'000;
int finished = 0;

/// Effects that make a row longer.
template <int>
struct extra {
  struct o : op<void> {};
  using operations = op_list<o>;
};
struct answering {
  void on(extra<1>::o) const {}
  void on(extra<2>::o) const {}
  void on(extra<3>::o) const {}
  void on(extra<4>::o) const {}
  void on(extra<5>::o) const {}
};

template <class... Es>
eff<void, Es...> sleeper() {
  co_await proc::yield{};
  ++finished;
}

template <class... Es>
eff<void, spawning<Es...>, Es...> crowd() {
  for (int i = 0; i != processes; ++i) co_await spawn(sleeper<Es...>);
  co_await proc::yield{};
}
eff<void, spawning<proc>, proc> forkable_crowd() {
  for (int i = 0; i != processes; ++i) co_await spawn(forkable, sleeper<proc>);
  co_await proc::yield{};
}

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;  // the second number is the resident size
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Bytes; nullopt if a process did not behave as expected.
using measurement = std::optional<double> (*)();

template <class Program, class... Handlers>
std::optional<double> bytes_a_process(Program program, Handlers... handlers) {
  double const before = resident_bytes();
  scheduler<> s;
  s.start(program, handlers...);
  for (int i = 0; i != processes + 1; ++i)
    if (!s.step()) return std::nullopt;
  double const bytes = resident_bytes() - before;
  bool const all_wait = finished == 0;
  s.run();
  if (!all_wait || finished != processes) return std::nullopt;
  return bytes / processes;
}

std::optional<double> row1() { return bytes_a_process(crowd<proc>); }
std::optional<double> row2() { return bytes_a_process(crowd<proc, extra<1>>, answering()); }
std::optional<double> row6() {
  return bytes_a_process(crowd<proc, extra<1>, extra<2>, extra<3>, extra<4>, extra<5>>,
                         answering());
}
std::optional<double> with_log() { return bytes_a_process(forkable_crowd); }

std::optional<double> in_a_child(measurement measure) {
  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  pid_t const child = fork();
  if (child == -1) return std::nullopt;
  if (child == 0) {
    std::optional<double> const bytes = measure();
    bool const told = bytes && write(ends[1], &*bytes, sizeof *bytes) == sizeof *bytes;
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  double bytes = 0;
  bool const heard = read(ends[0], &bytes, sizeof bytes) == sizeof bytes;
  close(ends[0]);
  int status = 0;
  bool const ended_well = waitpid(child, &status, 0) == child && status == 0;
  if (!heard || !ended_well) return std::nullopt;
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite bench("memory", argc, argv);
  bool right = true;
  for (auto const& [which, measure] : {std::pair<char const*, measurement>{"suspended/1M", row1},
                                       {"suspended/1M/row2", row2},
                                       {"suspended/1M/row6", row6},
                                       {"suspended/1M/forkable", with_log}}) {
    auto const bytes = in_a_child(measure);
    if (bytes) {
      bench.report(which, *bytes, "bytes");
    } else {
      std::fprintf(stderr, "%s: not every process waited once and then ended\n", which);
      right = false;
    }
  }
  return bench.run() == 0 && right ? 0 : 1;
}
