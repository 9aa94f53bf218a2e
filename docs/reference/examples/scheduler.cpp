// SPDX-License-Identifier: MIT
// A scheduler as an object: run step by step, and once more from a checkpoint.
#include <iostream>
#include <string>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

eff<void, proc, console> program() {
  for (int i = 1; i <= 3; ++i) {
    co_await console::print_line{"step " + std::to_string(i)};
    co_await proc::yield{};
  }
}

int main() {
  scheduler<> s;
  s.start(scheduler<>::options{.log_limit = 100}, program, console_to_stream(std::cout));
  s.step();
  scheduler<>::snapshot const here = s.checkpoint();
  std::cout << here.alive() << " process, " << here.ready().size() << " ready, "
            << here.failures().size() << " failures\n";
  s.run();
  std::cout << "again:\n";
  s.run(here);
  std::cout << s.alive() << " left\n";
  one_thread const& backend_of_s = s.base();
  (void)backend_of_s;
  std::cout << (here.time() == instant()) << (s.checkpoint().home() == here.home()) << '\n';
  std::cout << s.dump();
}
