// SPDX-License-Identifier: MIT
// A state machine as a process: it is stepped with events, and issues commands.
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/sched/commands/run_stepper.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

struct square : command<int> {
  explicit square(int n) : number(n) {}
  int number;
};

struct sums_squares {
  using commands = command_list<square>;
  using input = int;
  using message = int;

  void init(std::string_view method, int first) {
    (this->*methods.at<sums_squares>(method))(first);
  }
  void step(std::span<event> events, output_of<sums_squares>& out) {
    for (event& e : events) {
      if (e.type == event_type::completed)
        std::cout << "tag " << e.tag << ": " << e.result<int>() << '\n';
      if (e.type == event_type::message) next = e.data.take<int>();
      if (e.type == event_type::cancelled || e.error) next = 0;
    }
    if (next > 0) out.issue(square(std::exchange(next, 0)));
    out.status = ++steps == 3 ? step_status::done : step_status::waiting;
    if (steps == 1) out.status = step_status::again;
  }
  void close() noexcept { std::cout << "closed\n"; }

  void begin(int first) { next = first; }
  entry_points<void (sums_squares::*)(int)> methods{{"begin", &sums_squares::begin}};
  int next = 0, steps = 0;
};
static_assert(stepper<sums_squares>);

eff<void, spawning<steppers<sums_squares>>, mail> program() {
  auto [in, to] = co_await open<int>();
  co_await start_stepper(sums_squares(), "begin", 3, std::move(in));
  co_await to.send(4);
  try {
    co_await start_stepper(sums_squares(), "no such method", 0);
  } catch (unknown_method const& e) {
    std::cout << e.what() << '\n';
  }
}

int main() {
  schedule(program, dispatchers{[](square c, reply<int> r) { r.complete(c.number * c.number); }});
}
