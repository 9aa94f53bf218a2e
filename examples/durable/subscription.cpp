// SPDX-License-Identifier: MIT

/// A subscription: each month a payment, for years; until it is cancelled.
///
/// The process lives longer than any program, so its log would grow without end.  At the end of
/// each year it continues as new: the next run begins with the totals as its arguments, and an empty
/// log.  A test of three years takes no time, since time is virtual.

#include <chrono>
#include <iostream>
#include <string>

#include <weft/durable/engine.hpp>
#include <weft/durable/memory_store.hpp>
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>

using namespace weft;
using namespace std::chrono_literals;
using std::chrono::hours;

constexpr hours month(30 * 24);

eff<int, console> collect(int year, int in_month, int price) {
  if (in_month == 1)
    co_await console::print_line("year " + std::to_string(year) + ": " + std::to_string(price) +
                                 " each month");
  co_return price;
}
eff<void, console> say_goodbye(int paid) {
  co_await console::print_line("cancelled; paid in all: " + std::to_string(paid));
}

using effects = durable::all<console>;

eff<int, effects> subscription(int year, int price, int paid) {
  bool was_cancelled = false;
  try {
    for (int m = 1; m <= 12; ++m) {
      paid += co_await durable::step("collect", collect, year, m, price);
      co_await timing::sleep_for{month};
    }
  } catch (cancelled const&) {
    was_cancelled = true;
  }
  if (!was_cancelled) co_await durable::continue_as_new(year + 1, price + 1, paid);
  co_await durable::step("goodbye", say_goodbye, paid);
  co_return paid;
}
constexpr durable::function subscription_process{"subscription", 1, subscription};

/// A customer: subscribes, and cancels after some months.
eff<void, effects> customer(int months) {
  auto s = co_await durable::start("subscription/7", subscription_process, 1, 10, 0);
  co_await timing::sleep_for{months * month + 1h};
  co_await s.cancel();
}
constexpr durable::function customer_process{"customer", 1, customer};

int main() {
  durable::memory_store store;
  durable::engine e(
      {.until = durable::run_until::all_ended, .clock = durable::clock_source::scheduler}, store,
      subscription_process, customer_process);
  e.start("customer/7", customer_process, 31);
  schedule({.virtual_time = true}, [&] { return e.run(); }, console_to_stream(std::cout));
  auto const s = *e.find("subscription/7");
  std::cout << "paid " << e.result_of<int>(s) << " in run " << s.run + 1 << ", with a log of "
            << s.entries << " entries\n";
}
