// SPDX-License-Identifier: MIT
// The options of schedule: forking, logs, a stop, virtual time, a limit on processes.
#include <chrono>
#include <iostream>
#include <stop_token>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;
using namespace std::chrono_literals;

eff<void, timing> naps() { co_await timing::sleep_for{1h}; }
eff<void, spawning<timing>, console> spawns_three() {
  for (int i = 0; i != 3; ++i) co_await spawn(naps);
  co_await console::print_line{"three were spawned"};
}

int main() {
  schedule_options how{
      .forkable = false, .log_limit = 1000, .virtual_time = true, .trace = nullptr};
  schedule(how, spawns_three, console_to_stream(std::cout));  // takes no hour

  how.max_processes = 3;  // the first one included
  how.when_full = overflow_policy::fail;
  try {
    schedule(how, spawns_three, console_to_stream(std::cout));
  } catch (too_many_processes const&) {
    std::cout << "too_many_processes\n";
  }
  how.when_full = overflow_policy::wait;
  schedule(how, spawns_three, console_to_stream(std::cout));

  std::stop_source asked;
  how.stop = asked.get_token();
  asked.request_stop();
  try {
    schedule(how, spawns_three, console_to_stream(std::cout));
  } catch (cancelled const& c) {
    std::cout << c.what() << '\n';
  }
}
