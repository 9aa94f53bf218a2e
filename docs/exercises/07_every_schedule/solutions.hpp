// SPDX-License-Identifier: MIT
#pragma once
// Solutions of the exercises of docs/07_every_schedule.md.

#include <cstddef>
#include <functional>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

namespace every_schedule {

using namespace weft;

inline eff<void, proc> increment(int& n) {
  int const seen = n;
  co_await proc::yield{};
  n = seen + 1;
}

// Exercise 1 (*): three processes run `increment`.  How many schedules are there, and in how many
// of them is n 3 at the end?  Write both down before you run it.
inline std::size_t schedules_of_three() { return 90; }
inline std::size_t right_of_three() { return 6; }

// Exercise 2 (**): a turn that looks once, with `if` in place of `while`.  Spawn as many processes
// that run `increment_carelessly` as it takes for an update to be lost, and no more.
struct turn {
  bool is_taken = false;
  gate free;
};
struct counter {
  int n = 0;
  int begun = 0;
  turn whose;
};
inline eff<void, proc, syncing> increment_carelessly(counter& c) {
  ++c.begun;
  if (c.whose.is_taken) co_await syncing::wait{c.whose.free};
  c.whose.is_taken = true;
  co_await increment(c.n);
  c.whose.is_taken = false;
  co_await syncing::wake{c.whose.free};
}
inline eff<void, spawning<proc, syncing>> as_many_as_it_takes(counter& c) {
  for (int i = 0; i != 3; ++i) co_await spawn(increment_carelessly, std::ref(c));
}

// Exercise 3 (**): a turn that goes to the process that has waited longest, and to no other: if a
// process waits, `give_back` leaves the turn taken.
inline eff<void, syncing> take(turn& t) {
  if (t.is_taken)
    co_await syncing::wait{t.free};
  else
    t.is_taken = true;
}
inline eff<void, syncing> give_back(turn& t) {
  if (t.free.waiting() == 0)
    t.is_taken = false;
  else
    co_await syncing::wake{t.free};
}

// Exercise 4 (**): a supper that never ends in a deadlock: the last philosopher takes the other fork
// first.  And which searches can say that it never does: for which of them is `complete` true?
struct table {
  explicit table(std::size_t philosophers) : forks(philosophers) {}
  std::vector<mutex> forks;
  std::size_t meals = 0;
};
inline eff<void, proc, syncing> eats(table& t, std::size_t first, std::size_t second) {
  auto const one = co_await t.forks[first].lock();
  co_await proc::yield{};
  auto const other = co_await t.forks[second].lock();
  co_await proc::yield{};
  ++t.meals;
}
inline eff<void, spawning<proc, syncing>> supper(table& t) {
  std::size_t const last = t.forks.size() - 1;
  for (std::size_t i = 0; i != last; ++i) co_await spawn(eats, std::ref(t), i, i + 1);
  co_await spawn(eats, std::ref(t), 0, last);
}
struct proofs {
  bool full, bounded, reduced, random;
  friend bool operator==(proofs const&, proofs const&) = default;
};
/// Of three philosophers: `explore({})`, with `.max_preemptions = 1`, with `.reduce`, and `random_walk`.
inline proofs that_say_never() { return {true, false, true, false}; }

// Exercise 5 (***): a program that goes wrong only in schedules with two preemptions or more.  It
// goes wrong by setting `is_wrong`; the other variables are for you.
struct race {
  int a = 0, b = 0, c = 0;
  bool is_wrong = false;
};
inline eff<void, proc> goes_first_and_third(race& r) {
  r.a = 1;
  co_await proc::yield{};
  r.c = r.b;
}
inline eff<void, proc> goes_second_and_fourth(race& r) {
  r.b = r.a;
  co_await proc::yield{};
  r.is_wrong = r.c == 1;
}
inline eff<void, spawning<proc>> needs_two_preemptions(race& r) {
  co_await spawn(goes_first_and_third, std::ref(r));
  co_await spawn(goes_second_and_fourth, std::ref(r));
}

// Exercise 6 (***): a transfer that gives up.  It locks the payer, and waits for the payee until
// the patience is over.  It yields whether the money has moved.
struct account {
  int balance = 100;
  mutex own;
};
inline eff<bool, syncing, timing> transfer(account& from, account& to, int amount,
                                           instant::duration patience) {
  auto const payer = co_await from.own.lock();
  instant const until = co_await timing::now{} + patience;
  auto const payee = co_await to.own.try_lock_until(until);
  if (!payee) co_return false;
  from.balance -= amount;
  to.balance += amount;
  co_return true;
}

}  // namespace every_schedule
