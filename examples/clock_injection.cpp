// SPDX-License-Identifier: MIT

/// A program that reads the clock, and a test that decides what the clock says.
///
/// `longest_chain` works until its time is up and returns the best it has found.  With a real clock
/// its result depends on the machine and on what else that does; so it is the kind of program that
/// is not tested.  Here reading the clock is an effect, and the test's clock follows a script: a
/// fast machine, a slow one, one whose clock is set back while the program works.  The program
/// cannot tell; and the last of them shows a fault in it that no machine shows when one looks.
///
/// Kinds of clause: value clauses only.  The scripted clock throws when its script is over: out of
/// a value clause an exception arises at the operation, in the program.
///
///     clock_injection          prints what the scripts lead to, always the same
///     clock_injection --real   uses the clock of the machine

#include <chrono>
#include <cstddef>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "effects/effects.hpp"

using namespace weft;
using std::chrono::milliseconds;

/// Time since some beginning.
struct clock_reading {
  struct now : op<milliseconds> {};

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

/// The number with the longest Collatz chain, as far as it got: it reads the clock after each ten.
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
void report(std::string_view machine, Clock clock) {
  std::cout << machine << ": ";
  try {
    long const best = run(handle(std::move(clock), longest_chain(milliseconds(20))));
    std::cout << best << ", a chain of " << chain_length(best) << '\n';
  } catch (std::out_of_range const& e) {
    std::cout << e.what() << '\n';
  }
}

int main(int arguments, char**) {
  if (arguments > 1) {
    report("this machine", clock_of_the_machine());
    return 0;
  }
  report("fast machine", scripted_clock({0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20}));
  report("slow machine", scripted_clock({0, 9, 18, 27}));
  report("woken from sleep", scripted_clock({0, 3'600'000}));
  report("clock set back", scripted_clock({3'600'000, 0, 5, 10, 15, 20, 25, 30}));
}
