// SPDX-License-Identifier: MIT
// A scope: its tasks end before it does; it is cancelled by a deadline, a stop token, or its body.
#include <chrono>
#include <iostream>
#include <stop_token>
#include <string>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/tasks/scope.hpp>
using namespace weft;
using namespace std::chrono_literals;

eff<void, timing> takes(std::chrono::minutes time, int& done) {
  co_await timing::sleep_for{time};
  ++done;
}

eff<void, tasking<timing>, timing> program() {
  int done = 0;
  int const sum = co_await with_scope([&](scope<timing>& s) -> eff<int, tasking<timing>> {
    s.start(takes, 1min, std::ref(done));
    s.start([&done] { ++done; });
    task_handle<int> h;
    s.start(h, [](int n) { return 2 * n; }, 21);
    co_return co_await h;
  });
  std::cout << sum << ", " << done << " done\n";

  instant const now = co_await timing::now{};
  std::stop_source asked;
  try {
    co_await with_scope(scope_options{.deadline = now + 1h, .timeout = time_span(5min)},
                        asked.get_token(), [&](auto& s) { s.start(takes, 2h, std::ref(done)); });
  } catch (timed_out const& c) {  // is a `cancelled`
    std::cout << c.what() << '\n';
  }
  co_await with_scope([&](auto& s) {
    s.start(takes, 3h, std::ref(done));
    s.cancel();  // no error: the scope has been told to end
  });
  std::cout << done << " done\n";
}

int main() { schedule({.virtual_time = true}, program); }
