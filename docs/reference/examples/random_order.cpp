// SPDX-License-Identifier: MIT
// A backend that draws one schedule at random; the same seed gives the same schedule.
#include <iostream>
#include <stop_token>
#include <string>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/testing/testing.hpp>
using namespace weft;

eff<void, console> prints(int n) { co_await console::print{std::to_string(n)}; }
eff<void, spawning<console>> program() {
  for (int i = 0; i != 8; ++i) co_await spawn(prints, i);
}

int main() {
  std::string one, same, other;
  random_order::options how{.seed = 7,
                            .forkable = false,
                            .log_limit = 100,
                            .stop = std::stop_token(),
                            .virtual_time = true,
                            .max_processes = 0,
                            .when_full = overflow_policy::fail,
                            .trace = nullptr};
  schedule<random_order>(how, program, console_to_string(one));
  schedule<random_order>(how, program, console_to_string(same));
  how.seed = 8;
  schedule<random_order>(random_order_options(how), program, console_to_string(other));
  std::cout << (one == same) << (one == other) << '\n';
}
