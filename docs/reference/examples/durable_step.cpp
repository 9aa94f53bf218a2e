// SPDX-License-Identifier: MIT
// Steps of a durable process: tried again after a failure, or called once at most.
#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>

#include <weft/durable/engine.hpp>
#include <weft/durable/memory_store.hpp>
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;
using namespace std::chrono_literals;

eff<int, console> call(durable::idempotency_key const& key, int answer) {
  co_await console::print_line{"the call " + key.text};
  if (answer == 0) throw std::runtime_error("no answer");
  co_return answer;
}

eff<std::string, durable::all<console>> careful() {
  durable::step_options how{.name = "ask", .attempts = 3};
  how.first_delay = 1min;
  how.factor = 2;
  how.max_delay = 90s;
  how.jitter = 0;
  how.timeout = 10s;
  instant const begin = co_await timing::now{};
  std::string said;
  try {
    co_await durable::step(how, call, 0);
  } catch (durable::step_failed const& e) {
    said = e.step + " failed " + std::to_string(e.attempts) + " times: " + e.why;
  }
  said += ", after " + std::to_string((co_await timing::now{} - begin) / 1s) + " s";
  try {
    co_await durable::step({.name = "pay", .at_most_once = true}, call, 7);
  } catch (durable::step_interrupted const&) {  // after a crash in the call
    said += "; not known whether it was paid";
  }
  co_return said;
}
constexpr durable::function careful_process{"careful", 1, careful};

eff<int, durable::steps<console>> brief() { co_return co_await durable::step("ask", call, 1); }
constexpr durable::function brief_process{"brief", 1, brief};

int main() {
  durable::memory_store store;
  durable::engine e(
      {.until = durable::run_until::all_ended, .clock = durable::clock_source::scheduler}, store,
      careful_process, brief_process);
  e.start("careful", careful_process);
  schedule({.virtual_time = true}, [&] { return e.run(); }, console_to_stream(std::cout));
  e.start("brief", brief_process);
  schedule({.virtual_time = true}, [&] { return e.run(); }, console_to_stream(std::cout));
  std::cout << e.result<std::string>("careful") << '\n' << e.result<int>("brief") << '\n';
}
