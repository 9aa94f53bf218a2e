// SPDX-License-Identifier: MIT

/// Refused:
///   weft: start_stepper takes a stepper: init(method, input), step(events, output), close()
///   noexcept, and the types commands and input (sched/commands/stepper.hpp)
/// Naming: quiet_parser

#include <string>
#include <string_view>

#include "weft/sched/commands/run_stepper.hpp"
#include "weft/sched/schedule.hpp"

struct quiet_parser {  // cannot be closed
  using commands = weft::command_list<>;
  using input = std::string;
  void init(std::string_view, std::string) {}
  void step(std::span<weft::event>, weft::step_output<>&) {}
};

weft::eff<void, weft::spawning<weft::steppers<quiet_parser>>> program() {
  co_await weft::start_stepper(quiet_parser(), "lines", "input");
}

int main() { weft::schedule(program); }
