// SPDX-License-Identifier: MIT
// A durable process that no longer fits its log is quarantined, and goes on when its code is mended.
#include <iostream>

#include <weft/durable/engine.hpp>
#include <weft/durable/memory_store.hpp>
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

using number = eff<int, durable::all<>>;
int one() { return 1; }

number as_it_was() {
  int const n = co_await durable::step("first", one);
  auto const more = co_await durable::receive<int>();
  co_return n + more.message;
}
number as_it_is() {
  try {
    co_await durable::step("another", one);
  } catch (durable::diverged const&) {  // seen by code that catches all; the process cannot go on
    std::cout << "diverged\n";
    throw;
  }
  co_return 0;
}

int main() {
  durable::memory_store store;
  durable::function const old{"sum", 1, as_it_was};
  durable::engine e({.until = durable::run_until::idle, .clock = durable::clock_source::scheduler},
                    store, old);
  e.start("a", old);
  schedule({.virtual_time = true}, [&] { return e.run(); });
  e.send("a", 41);

  durable::engine changed(
      {.until = durable::run_until::idle, .clock = durable::clock_source::scheduler}, store,
      durable::function{"sum", 2, as_it_is});
  schedule({.virtual_time = true}, [&] { return changed.run(); });
  std::cout << durable::name_of(e.find("a")->status) << ": " << e.find("a")->result << '\n';

  std::cout << e.resume_quarantined("a") << '\n';
  schedule({.virtual_time = true}, [&] { return e.run(); });
  std::cout << e.result<int>("a") << '\n';
}
