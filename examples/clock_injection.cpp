// SPDX-License-Identifier: MIT

/// A program that reads the clock, and a test that decides what the clock shows.
///
/// `longest_chain` works until its time is up and returns the best number found.  With a real clock
/// its result depends on the machine and on its load, so such a program is usually not tested.
/// Here reading the clock is an effect, and the test's clock follows a script: a fast machine, a
/// slow one, one whose clock is set back while the program works.  The program cannot tell; and the
/// last script shows a fault that hardly ever shows on a real machine.
///
/// Kinds of clause: value clauses only.  The scripted clock throws when its script is over: an
/// exception in a value clause is thrown at the operation, in the program.
///
///     clock_injection          prints the results of the scripts, always the same
///     clock_injection --real   uses the clock of the machine

#include <chrono>
#include <cstddef>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>

using namespace weft;
using std::chrono::milliseconds;

/// Time since some beginning.
struct clock_reading {
  struct [[nodiscard]] now : op<milliseconds> {};

  using operations = op_list<now>;
};

struct clock_of_the_machine : handler<clock_reading> {
  milliseconds on(clock_reading::now) const {
    auto const since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<milliseconds>(since);
  }
};

class scripted_clock : public handler<clock_reading> {
 public:
  explicit scripted_clock(std::vector<int> readings) : readings_(std::move(readings)) {}

  milliseconds on(clock_reading::now) {
    if (next_ == readings_.size()) throw std::out_of_range("the scripted clock has stopped");
    return milliseconds(readings_[next_++]);
  }

 private:
  std::vector<int> readings_;
  std::size_t next_ = 0;
};

// ---- the program

int chain_length(long n) {
  int steps = 1;
  for (; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return steps;
}

/// The number with the longest Collatz chain in the time; it reads the clock after each ten
/// numbers.
eff<long, clock_reading> longest_chain(milliseconds budget) {
  milliseconds const start = co_await clock_reading::now{};
  long best = 1;
  for (long n = 2;; ++n) {
    if (chain_length(n) > chain_length(best)) best = n;
    if (n % 10 == 0) {
      milliseconds const now = co_await clock_reading::now{};
      if (now - start >= budget) co_return best;
    }
  }
}

// ---- the same program on four clocks

template <class Clock>
eff<void, console> report(std::string machine, Clock clock) {
  std::string found;
  try {
    long const best = co_await handle(std::move(clock), longest_chain(milliseconds(20)));
    found = std::to_string(best) + ", a chain of " + std::to_string(chain_length(best));
  } catch (std::out_of_range const& e) {
    found = e.what();
  }
  co_await console::print_line(machine + ": " + found);
}

/// One process each, with a clock of its own.
eff<void, spawning<console>> four_machines() {
  scripted_clock const fast({0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20});
  scripted_clock const slow({0, 9, 18, 27});
  scripted_clock const woken({0, 3'600'000});
  scripted_clock const set_back({3'600'000, 0, 5, 10, 15, 20, 25, 30});
  co_await spawn(report<scripted_clock>, "fast machine", fast);
  co_await spawn(report<scripted_clock>, "slow machine", slow);
  co_await spawn(report<scripted_clock>, "woken from sleep", woken);
  co_await spawn(report<scripted_clock>, "clock set back", set_back);
}

eff<void, console> this_machine() { co_await report("this machine", clock_of_the_machine()); }

int main(int argc, char** argv) {
  examples::backend const backend(argc, argv, "[--real]");
  if (backend.argument().empty())
    backend.schedule(four_machines, console_to_stream(std::cout));
  else if (backend.argument() == "--real")
    backend.schedule(this_machine, console_to_stream(std::cout));
  else
    backend.refuse();
}
