// SPDX-License-Identifier: MIT
// How a run ends that goes wrong: several failures, and a deadlock with the processes that wait.
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

eff<void, proc> fails(std::string text) {
  try {
    co_await proc::yield{};
    co_await proc::yield{};
  } catch (cancelled const&) {
    throw std::runtime_error(text + ", because another one failed");
  }
  throw std::runtime_error(text);
}
eff<void, spawning<proc>> two_fail() {
  co_await spawn(fails, std::string("first"));
  co_await spawn(fails, std::string("second"));
}

eff<void, syncing> locks_twice(mutex& m) {
  auto const once = co_await m.lock();
  auto const twice = co_await m.lock();
}

int main() {
  try {
    schedule(two_fail);
  } catch (exceptions const& e) {
    for (exceptions::failure const& f : e.all) {
      try {
        std::rethrow_exception(f.error);
      } catch (std::exception const& error) {
        std::cout << f.process.text() << ": " << error.what() << '\n';
      }
    }
  }
  mutex m;
  try {
    schedule([&m] { return locks_twice(m); });
  } catch (deadlock const& d) {
    for (deadlock::waiter const& w : d.all) {
      deadlock::holder const by = w.held_by.value();
      std::cout << w.process.text() << " waits, held by " << by.process.text() << " since "
                << by.since << w.reason << '\n';
      std::cout << (w.text().find(w.what) == 0)
                << (w.function.find("locks_twice") != std::string_view::npos) << '\n';
    }
  }
}
