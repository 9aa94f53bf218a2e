// SPDX-License-Identifier: MIT
// Formatters for fmt: an id, a path and a report, a time.
#include <fmt/format.h>

#include <chrono>
#include <string>

#include <weft/adapters/clock_time.hpp>
#include <weft/adapters/fmt.hpp>
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/testing/testing.hpp>
using namespace weft;

eff<void> nothing() { co_return; }
eff<void, timing, spawning<>> waits() {
  co_await timing::sleep_for(std::chrono::milliseconds(1250));
  process_id const id = co_await spawn(nothing);
  instant const now = co_await timing::now{};
  fmt::print("process {} begins at {:>6}\n", id, clock_time{.at = now});
}
eff<void, proc> yields(int& n) {
  co_await proc::yield{};
  ++n;
}

int main() {
  schedule({.virtual_time = true}, waits);
  auto const found = explore([] { return 0; }, yields, [](int const& n) { return n == 2; });
  fmt::print("{}\n{}\n", found.first_failure()->path, found);
}
