// SPDX-License-Identifier: MIT
#include <cstdio>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>

/// The smallest program that has all the parts: an effect of its own, a handler for it, and two
/// processes.  `bench/compile.py` measures how long a compiler takes for it.
struct counting {
  struct [[nodiscard]] next : weft::op<int> {};
  using operations = weft::op_list<next>;
};
struct counter : weft::handler<counting> {
  int n = 0;
  int on(counting::next) { return ++n; }
};

weft::eff<void, weft::proc, counting> program() {
  bool const first = co_await weft::proc::fork{};
  co_await weft::proc::yield{};
  int const n = co_await counting::next{};
  std::printf("%s %d\n", first ? "first" : "second", n);
}

int main() { weft::schedule(program, counter()); }
