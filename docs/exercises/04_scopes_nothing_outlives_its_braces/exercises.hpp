// SPDX-License-Identifier: MIT
#pragma once

// The exercises of docs/04_scopes_nothing_outlives_its_braces.md.  Complete each function; its test says
// what it must do.

#include <chrono>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/sched/tasks/shielded.hpp"
#include "weft/sched/tasks/when_all.hpp"
#include "weft/sched/tasks/when_any.hpp"

namespace scopes_nothing_outlives_its_braces {

using namespace weft;
using namespace std::chrono_literals;
using waits = tasking<timing>;

inline eff<void, timing> sleeps(std::chrono::milliseconds t) { co_await timing::sleep_for{t}; }

// Exercise 1 (*): how many milliseconds does each of the two scopes take?
inline eff<void, waits, timing> three_tasks(bool cancels) {
  co_await with_scope([&](auto& s) -> eff<void, waits, timing> {
    for (auto const t : {5ms, 10ms, 20ms}) s.start(sleeps, t);
    co_await timing::sleep_for{7ms};
    if (cancels) s.cancel();
  });
}
inline int ms_of_three_tasks() { return 0; }
inline int ms_of_three_tasks_that_are_cancelled() { return 0; }

// Exercise 2 (*): `whole_entries` without the shield.  What is written at the end?
inline eff<void, timing> keeps_the_books(int& written) {
  for (;;) {
    ++written;
    co_await timing::sleep_for{2ms};
    ++written;
    co_await timing::sleep_for{1ms};
  }
}
inline eff<void, waits> entries(int& written) {
  try {
    co_await with_scope({.timeout = 10ms},
                        [&](auto& s) { s.start(keeps_the_books, std::ref(written)); });
  } catch (cancelled const&) {
  }
}
inline int written_without_a_shield() { return 0; }

// Exercise 3 (**): fetches a page for each size, all at the same time; yields the sum of the results.
inline eff<int, timing> fetch(int kilobytes) {
  co_await timing::sleep_for{std::chrono::milliseconds(kilobytes)};
  co_return kilobytes;
}
inline eff<int, waits, timing> fetch_all(std::vector<int> sizes) {
  int sum = 0;
  for (int const n : sizes) sum += co_await fetch(n);
  co_return sum;
}

// Exercise 4 (**): the result of `f()`, or nothing if it has not come when the time is over.  An
// exception of `f()` is thrown.
inline eff<std::optional<int>, waits, timing> in_time(std::function<eff<int, timing>()> f,
                                                      instant::duration) {
  co_return co_await f();
}

// Exercise 5 (**): moves money; whatever cancels it, the sum of both accounts is the same afterwards.
inline eff<void, timing> transfer(int& from, int& to, int amount) {
  from -= amount;
  co_await timing::sleep_for{2ms};  // the other bank is slow
  to += amount;
}

// Exercise 6 (***): asks the near server; if it has not answered after `patience`, asks the far one as
// well.  Yields the first answer.
using server = std::function<eff<std::string, timing>()>;
inline eff<std::string, waits, timing> hedged(server near, server, instant::duration) {
  co_return co_await near();
}

}  // namespace scopes_nothing_outlives_its_braces
