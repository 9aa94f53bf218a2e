// SPDX-License-Identifier: MIT
// Handles of tasks: waiting with and without a deadline, taking values, tasks without a scope.
#include <chrono>
#include <iostream>
#include <string>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/tasks/task_handle.hpp>
using namespace weft;
using namespace std::chrono_literals;

eff<std::string, timing> fetch(std::string name, std::chrono::seconds time) {
  co_await timing::sleep_for{time};
  co_return name + "!";
}

eff<void, tasking<timing>, timing> program() {
  auto one = co_await start_task(fetch, std::string("a"), 2s);
  bool const soon = co_await one.wait_for(1s);
  instant const now = co_await timing::now{};
  bool const later = co_await one.wait_until(now + 1h);
  std::cout << soon << later << one.have_ended() << one.size() << '\n';
  std::string const kept = co_await one;          // stays in the handle
  std::string const taken = co_await one.take();  // the handle is then empty
  std::cout << kept << taken << one.size() << '\n';

  task_handle<std::string> several;
  co_await start_task(several, fetch, std::string("b"), 3s);
  co_await start_task(several, fetch, std::string("c"), 1s);
  for (std::string const& s : co_await several.all()) std::cout << s;
  co_await start_task(several, fetch, std::string("d"), 1s);
  several.clear();  // the task goes on
  std::cout << several.size() << '\n';
}

int main() { schedule({.virtual_time = true}, program); }
