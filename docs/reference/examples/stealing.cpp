// SPDX-License-Identifier: MIT
// schedule<stealing>: several threads that steal, their options, counts and processes.
#include <iostream>
#include <stop_token>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/stealing.hpp>
using namespace weft;

eff<void, yielding> turns() {
  for (int i = 0; i != 3; ++i) co_await yielding::yield{};
}
eff<void, spawning<yielding>> program() {
  for (int i = 0; i != 10; ++i) co_await spawn(turns);
}

char const* text_of(stealing_state s) {
  switch (s) {
    case stealing_state::ready:
      return " is ready";
    case stealing_state::running:
      return " runs";
    case stealing_state::blocked:
      return " waits";
    case stealing_state::idle:
      return " waits for mail";
    case stealing_state::complete:
      return " has ended";
  }
  return "";
}

int main() {
  stealing_options const how{.threads = 1,  // one, so that the counts are always the same
                             .forkable = false,
                             .log_limit = 100,
                             .stop = std::stop_token(),
                             .virtual_time = false,
                             .max_processes = 0,
                             .when_full = overflow_policy::fail,
                             .trace = nullptr,
                             .order = local_order::fifo,  // or lifo
                             .batch = 16,
                             .spins = 4,
                             .looks = 16,
                             .keep_list = true};
  scheduler<stealing> s(how);
  s.start(how, program);
  for (process_report const& r : s.base().processes())
    std::cout << r.id.text() << text_of(r.state) << ' ' << r.steps << r.waits_for << '\n';
  s.run();
  worker_counts const c = s.base().counts(0);
  std::cout << s.base().threads() << " thread: " << c.run << " steps, " << c.stolen << " stolen, "
            << c.parked << c.woken << '\n';
  stealing::options newest_first;
  std::cout << (newest_first.order == local_order::lifo) << '\n';
}
