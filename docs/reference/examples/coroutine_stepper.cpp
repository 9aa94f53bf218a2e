// SPDX-License-Identifier: MIT
// A coroutine as a state machine, stepped by hand, without a scheduler.
#include <iostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <weft/effects/effects.hpp>
#include <weft/sched/commands/coroutine_stepper.hpp>
using namespace weft;

struct more : command<std::string> {};
struct line : command<> {
  explicit line(std::string t) : text(std::move(t)) {}
  std::string text;
};

eff<void, commands<more, line>> lines(std::string prefix) {
  for (int i = 0; i != 2; ++i) {
    std::string const text = co_await perform(more());
    co_await perform(line(prefix + text));
  }
}

int main() {
  coroutine_stepper<std::string, more, line> parser{{"lines", lines}};
  step_output<more, line> out;
  parser.init("lines", "> ");
  std::vector<event> events;
  for (int steps = 0; steps != 5; ++steps) {
    out.clear();
    parser.step(events, out);
    events.clear();
    for (step_output<more, line>::issued& i : out.all()) {
      event answer(event_type::completed, i.tag);
      if (std::holds_alternative<more>(i.what)) answer.data = unique_any(std::string("text"));
      if (auto const* l = std::get_if<line>(&i.what)) std::cout << l->text << '\n';
      events.push_back(std::move(answer));
    }
    if (out.status == step_status::done) std::cout << "done\n";
  }
  parser.close();
}
