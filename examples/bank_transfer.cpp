// SPDX-License-Identifier: MIT

/// Two accounts, each with a lock; transfers from one to the other; and an auditor that counts how
/// much money there is.
///
/// In the first version a process that needs an account locks it for a line or two, and no balance
/// is ever wrong.  On one thread all is well: no process yields, so there are six orders, and
/// `explore` finds nothing in them.  On several threads another process may run before any
/// operation.  `granularity::parallel` explores that, and then there are 36 million schedules.
/// `random_walk` draws some, and in one of the first the auditor counts too little.  That schedule
/// is shrunk, until only relevant switches are left, and then followed once more, with its output.
///
/// The obvious fix is to hold both locks during the transfer.  The same walk finds a deadlock.  The
/// fix for that is an order: a process that needs several accounts locks them by number.  Now
/// `explore` visits all schedules, one of each equivalent set, and all are right.  (A reduction
/// does not see the balances, which are plain numbers.  It need not: they are only accessed under
/// the locks, which it does see.)

#include <array>
#include <cstddef>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/sync/mutex.hpp>
#include <weft/testing/testing.hpp>

using namespace weft;

// ---- a bank

struct account {
  int number;
  std::string holder;
  int balance;  // under `own`
  mutex own;
};

struct bank {
  std::array<account, 2> accounts{{{0, "ann", 100, {}}, {1, "ben", 100, {}}}};
  int counted = 0;
  std::string said;
};

using doing = eff<void, syncing, console>;

doing tell(std::string what, account const& a) {
  co_await console::print_line{what + a.holder + ", who has " + std::to_string(a.balance)};
}

// ---- as it was first written: a lock for a line or two

doing takes_and_brings(account& from, account& to, int amount) {
  {
    auto const held = co_await from.own.lock();
    from.balance -= amount;
    co_await tell("taken from ", from);
  }
  auto const held = co_await to.own.lock();
  to.balance += amount;
  co_await tell("brought to ", to);
}

doing counts_one_by_one(bank& b) {
  for (auto& a : b.accounts) {
    auto const held = co_await a.own.lock();
    b.counted += a.balance;
    co_await tell("counted: ", a);
  }
}

// ---- the obvious fix: a process that needs several accounts locks all of them

doing holds_both(account& from, account& to, int amount) {
  auto const payer = co_await from.own.lock();
  co_await tell("locked: ", from);
  auto const payee = co_await to.own.lock();
  from.balance -= amount;
  to.balance += amount;
  co_await tell("moved to ", to);
}

doing holds_all(bank& b) {
  std::vector<mutex::guard> held;
  for (auto& a : b.accounts) {
    auto one = co_await a.own.lock();
    held.push_back(std::move(one));
    co_await tell("locked: ", a);
  }
  for (auto& a : b.accounts) b.counted += a.balance;
  co_await console::print_line{"counted: " + std::to_string(b.counted)};
}

// ---- the right fix: lock them in the order of their numbers

doing holds_both_in_order(account& from, account& to, int amount) {
  auto& low = from.number < to.number ? from : to;
  auto& high = from.number < to.number ? to : from;
  auto const first = co_await low.own.lock();
  co_await tell("locked: ", low);
  auto const second = co_await high.own.lock();
  from.balance -= amount;
  to.balance += amount;
  co_await tell("moved to ", to);
}

// ---- a day at the bank

struct rules {
  doing (*moves)(account& from, account& to, int amount);
  doing (*counts)(bank& b);
};

eff<void, spawning<syncing, console>> day(rules r, bank& b) {
  auto& [ann, ben] = b.accounts;
  co_await spawn(r.moves, std::ref(ann), std::ref(ben), 30);
  co_await spawn(r.moves, std::ref(ben), std::ref(ann), 20);
  co_await spawn(r.counts, std::ref(b));
}
auto day_under(rules r) {
  return [r](bank& b) { return day(r, b); };
}

bank in_the_morning() { return {}; }

run_result in_the_evening(bank const& b) {
  return {b.counted == 200 ? verdict::ok : verdict::failed,
          "the auditor has counted " + std::to_string(b.counted)};
}

auto to_nobody(bank& b) { return console_to_string(b.said); }
auto to_us(bank&) { return console_to_stream(std::cout); }

// ---- what can go wrong

explore_options const on_several_threads = {.granularity = granularity::parallel, .reduce = true};

exploration every_schedule(rules r, explore_options const& options) {
  return explore(options, in_the_morning, day_under(r), in_the_evening, to_nobody);
}

void some_schedules(rules r) {
  auto const found = random_walk({.seed = 3, .granularity = granularity::parallel}, in_the_morning,
                                 day_under(r), in_the_evening, to_nobody);
  std::cout << found.report();
  if (auto const* const wrong = found.first_failure()) {
    std::cout << "before it was made smaller: " << wrong->found.text() << '\n';
    std::cout << "-- once more, aloud\n";
    follow(wrong->path.text(), in_the_morning, day_under(r), in_the_evening, to_us);
  }
}

eff<void> explorer() {
  rules const first = {takes_and_brings, counts_one_by_one};
  rules const obvious = {holds_both, holds_all};
  rules const right = {holds_both_in_order, holds_all};

  std::cout << "-- a lock for a line or two, on one thread\n";
  bank b;
  schedule([&] { return day(first, b); }, to_us(b));
  std::cout << in_the_evening(b).text << '\n' << every_schedule(first, {}).report();
  std::cout << "-- the same, on several\n";
  some_schedules(first);

  std::cout << "-- both locks at once\n";
  some_schedules(obvious);

  std::cout << "-- both locks, in order\n" << every_schedule(right, on_several_threads).report();
  co_return;
}

int main(int argc, char** argv) { examples::backend(argc, argv).schedule(explorer); }
