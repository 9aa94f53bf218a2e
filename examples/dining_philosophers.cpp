// SPDX-License-Identifier: MIT

/// Five philosophers, five forks, and two forks are needed to eat.
///
/// If all of them take the fork on the left first, each may hold one, and wait for the other for
/// ever.  That may not happen for years.  So first the table is explored, with three of them and
/// every order of their steps, and the orders that deadlock are counted.  If one philosopher takes
/// the fork on the right first, there are none.  Then five of them dine that way.
///
/// A fork is a `mutex`: waiting for it suspends a process, not a thread.  The guard's destructor
/// puts it back, however its philosopher leaves the table.  Thinking and eating take virtual time:
/// the program itself takes none.

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iostream>
#include <string>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/sync/mutex.hpp>
#include <weft/testing/testing.hpp>

using namespace weft;
using namespace std::chrono_literals;

template <std::size_t N>
struct table {
  std::array<mutex, N> forks;

  [[nodiscard]] mutex& left_of(std::size_t i) { return forks[i]; }
  [[nodiscard]] mutex& right_of(std::size_t i) { return forks[(i + 1) % N]; }
};

// ---- may they all wait for one another?

eff<void, proc, syncing> eats_once(mutex& first, mutex& second) {
  auto const one = co_await first.lock();
  co_await proc::yield{};
  auto const other = co_await second.lock();
  co_await proc::yield{};
}

eff<void, spawning<proc, syncing>> all_left_first(table<3>& t) {
  for (std::size_t i = 0; i != 3; ++i)
    co_await spawn(eats_once, std::ref(t.left_of(i)), std::ref(t.right_of(i)));
}
eff<void, spawning<proc, syncing>> one_right_first(table<3>& t) {
  co_await spawn(eats_once, std::ref(t.left_of(0)), std::ref(t.right_of(0)));
  co_await spawn(eats_once, std::ref(t.left_of(1)), std::ref(t.right_of(1)));
  co_await spawn(eats_once, std::ref(t.right_of(2)), std::ref(t.left_of(2)));
}

template <class Program>
void explore_three(std::string const& how, Program program) {
  auto const laid = [] { return table<3>(); };
  auto const any = [](table<3> const&) { return true; };
  std::cout << "-- " << how << '\n' << explore(laid, program, any).report();
}

eff<void> explorer() {
  explore_three("each takes the fork on the left first", all_left_first);
  explore_three("one takes the fork on the right first", one_right_first);
  co_return;
}

// ---- supper

struct habits {
  std::string name;
  std::chrono::milliseconds thinks;
  std::chrono::milliseconds eats;
};

eff<void, timing, syncing, console> dines(habits h, mutex& first, mutex& second) {
  for (int meal = 1; meal <= 3; ++meal) {
    co_await timing::sleep_for{h.thinks};
    auto const one = co_await first.lock();
    auto const other = co_await second.lock();
    co_await console::print_line(h.name + " eats meal " + std::to_string(meal));
    co_await timing::sleep_for{h.eats};
  }
  co_await console::print_line(h.name + " is full");
}

eff<void, spawning<timing, syncing, console>> supper(table<5>& t) {
  std::array<habits, 5> const guests{{{"plato", 20ms, 10ms},
                                      {"hypatia", 10ms, 20ms},
                                      {"laozi", 70ms, 5ms},
                                      {"avicenna", 15ms, 15ms},
                                      {"spinoza", 5ms, 30ms}}};
  for (std::size_t i = 0; i != 4; ++i)
    co_await spawn(dines, guests[i], std::ref(t.left_of(i)), std::ref(t.right_of(i)));
  co_await spawn(dines, guests[4], std::ref(t.right_of(4)), std::ref(t.left_of(4)));
}

int main(int argc, char** argv) {
  examples::backend const backend(argc, argv);
  backend.schedule(explorer);
  std::cout << "-- supper\n";
  table<5> t;
  backend.schedule_in_virtual_time([&t] { return supper(t); }, console_to_stream(std::cout));
}
