// SPDX-License-Identifier: MIT

/// Can two processes that each add one to a number leave it at one?
///
/// Each reads the number, yields, and writes it back incremented.  Under `schedule` that always
/// fails; in another order it might work.  `explore` is a scheduler as well: it runs the program
/// under every schedule there is, and reports the ones that end wrongly.  The first of those is
/// recorded as a path, and `follow` runs it again.
///
/// The program reports its steps by `console`.  While all schedules are visited, the output goes to
/// a string that is discarded; when one is followed, it is printed.
///
/// Two ways out: do not yield between the read and the write, or have other processes wait
/// meanwhile.  The second is `taking_turns`: a lock made of a flag and a gate.  Both are proved
/// right on one thread.  On several threads the lock also needs the epoch of its gate: chapter 7.

#include <functional>
#include <iostream>
#include <string>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/testing/testing.hpp>

using namespace weft;

// ---- the state that two processes share

/// A lock: one process has it at a time.
struct turn {
  bool is_taken = false;
  gate free;
};

struct counter {
  int n = 0;
  turn whose;
  std::string said;
};

eff<void, syncing> take(turn& t) {
  while (t.is_taken) co_await syncing::wait{t.free};
  t.is_taken = true;
}
eff<void, syncing> give_back(turn& t) {
  t.is_taken = false;
  co_await syncing::wake{t.free};
}

// ---- three ways to add one

using adding = eff<void, proc, syncing, console>;

adding with_a_yield(counter& c, std::string name) {
  int const seen = c.n;
  co_await console::print_line{name + " reads " + std::to_string(seen)};
  co_await proc::yield{};
  c.n = seen + 1;
  co_await console::print_line{name + " writes " + std::to_string(c.n)};
}

adding without_a_yield(counter& c, std::string name) {
  co_await proc::yield{};
  int const seen = c.n;
  c.n = seen + 1;
  co_await console::print_line{name + " reads and writes " + std::to_string(c.n)};
}

adding taking_turns(counter& c, std::string name) {
  co_await take(c.whose);
  co_await with_a_yield(c, name);
  co_await give_back(c.whose);
}

// ---- and two processes that use one of them

using way = adding (*)(counter&, std::string);

eff<void, spawning<proc, syncing, console>> two_of(way add, counter& c) {
  co_await spawn(add, std::ref(c), "ann");
  co_await spawn(add, std::ref(c), "ben");
}

// ---- every schedule of them

counter at_zero() { return counter(); }
bool is_two(counter const& c) { return c.n == 2; }

auto two(way add) {
  return [add](counter& c) { return two_of(add, c); };
}

exploration every_schedule(way add) {
  auto const to_nobody = [](counter& c) { return console_to_string(c.said); };
  return explore(at_zero, two(add), is_two, to_nobody);
}

void watch(std::string const& path, way add) {
  auto const to_us = [](counter&) { return console_to_stream(std::cout); };
  auto const seen = follow(path, at_zero, two(add), is_two, to_us);
  std::cout << (seen.ok() ? "right\n" : "lost\n");
}

/// `explore` chooses the schedule of the program.  The backend argument only chooses the backend
/// that runs `explore`, which is within one process.
eff<void> explorer() {
  std::cout << "-- with a yield in between\n";
  auto const found = every_schedule(with_a_yield);
  std::cout << found.report();

  if (auto const* const lost = found.first_failure()) {
    std::cout << "-- that one again, aloud\n";
    watch(lost->path.text(), with_a_yield);
  }

  std::cout << "-- without a yield in between\n" << every_schedule(without_a_yield).report();
  std::cout << "-- taking turns\n" << every_schedule(taking_turns).report();
  co_return;
}

int main(int argc, char** argv) { examples::backend(argc, argv).schedule(explorer); }
