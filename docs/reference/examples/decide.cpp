// SPDX-License-Identifier: MIT
// A handler that lets the explorer choose what goes wrong.
#include <array>
#include <iostream>
#include <string>
#include <string_view>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/testing/testing.hpp>
using namespace weft;

struct line {
  struct [[nodiscard]] call : op<bool> {};
  using operations = op_list<call>;
};
struct unreliable : handler<line> {
  bool on(line::call) const {
    static constexpr std::array<std::string_view, 2> ways{"connected", "busy"};
    return decide(ways) == 0 && decide(2) == 0;  // the second is a silent failure
  }
};

eff<void, line> calls(int& answered) {
  for (int i = 0; i != 2; ++i) answered += co_await line::call{} ? 1 : 0;
}

int main() {
  auto const found =
      explore([] { return 0; }, calls, [](int n) { return std::to_string(n) + " answered"; },
              [](int&) { return unreliable(); });
  for (auto const& o : found.outcomes) {
    std::cout << o.result.text << ", in " << o.schedules << " schedules:";
    for (auto const& step : o.trace)
      for (schedule_step::decision const& d : step.decisions) std::cout << ' ' << d.text();
    std::cout << '\n';
  }
  auto const& d = found.outcomes.back().trace.front().decisions.front();
  std::cout << d.name << ' ' << d.taken << '\n';
}
