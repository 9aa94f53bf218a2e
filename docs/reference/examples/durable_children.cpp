// SPDX-License-Identifier: MIT
// Children of a durable process: started, awaited, cancelled; and a scope that none outlives.
#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>

#include <weft/durable/child_scope.hpp>
#include <weft/durable/engine.hpp>
#include <weft/durable/memory_store.hpp>
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;
using namespace std::chrono_literals;

using number = eff<int, durable::children, durable::mail, timing>;

number half(int n) {
  if (n % 2 != 0) throw std::runtime_error(std::to_string(n) + " is odd");
  co_return n / 2;
}
constexpr durable::function half_process{"half", 1, half};
number sleeps() {
  co_await timing::sleep_for{24h};
  co_return 0;
}
constexpr durable::function sleeps_process{"sleeps", 1, sleeps};

eff<int, durable::children> in_a_scope(durable::child_scope& s) {
  durable::child<int> const c = co_await s.start("c", half_process, 30);
  co_await s.start("long", sleeps_process);  // is cancelled when another one fails
  co_await s.start("odd", half_process, 3);
  co_return co_await s.outcome(c);
}

eff<std::string, durable::children, durable::mail, timing> family() {
  durable::child<int> const a = co_await durable::start("a", half_process, 10);
  durable::child<int> const b = co_await durable::start("b", half_process, 20);
  auto const [x, y] = co_await durable::when_all(a, b);
  std::string said = a.id() + " and " + b.id() + ": " + std::to_string(x + y);
  auto const asleep = co_await durable::start("asleep", sleeps_process);
  co_await asleep.cancel();
  try {
    co_await asleep.outcome();
  } catch (durable::child_failed const& e) {
    said += "; " + e.id + " was cancelled";
  }
  try {
    co_await durable::with_children(in_a_scope);
  } catch (durable::child_failed const& e) {
    said += "; " + std::string(e.what());
  }
  co_await durable::send("log", said);
  co_return said;
}
constexpr durable::function family_process{"family", 1, family};

int main() {
  durable::memory_store store;
  durable::engine e(
      {.until = durable::run_until::all_ended, .clock = durable::clock_source::scheduler}, store,
      family_process, half_process, sleeps_process);
  e.start("family", family_process);
  schedule({.virtual_time = true}, [&] { return e.run(); });
  std::cout << e.result<std::string>("family") << '\n';
  for (auto const& r : e.list(0, 100))
    std::cout << r.start.id << " of " << r.start.parent << ": " << durable::name_of(r.status)
              << '\n';
}
