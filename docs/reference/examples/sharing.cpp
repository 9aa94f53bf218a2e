// SPDX-License-Identifier: MIT
// schedule<sharing>: several threads that share the work, and their options.
#include <iostream>
#include <stop_token>
#include <string>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/sharing.hpp>
using namespace weft;

eff<void, syncing> adds(shared<int>& sum, int n) {
  co_await sum.update([n](int& s) { s += n; });
}
eff<void, spawning<syncing>> program(shared<int>& sum) {
  for (int i = 1; i <= 100; ++i) co_await spawn(adds, std::ref(sum), i);
}
eff<void, syncing, console> print(shared<int>& sum) {
  int const n = co_await sum.get();
  co_await console::print_line{std::to_string(n)};
}

int main() {
  shared<int> sum(0);
  sharing_options const how{.threads = 2,
                            .forkable = false,
                            .log_limit = 100,
                            .stop = std::stop_token(),
                            .virtual_time = false,
                            .max_processes = 0,
                            .when_full = overflow_policy::fail,
                            .trace = nullptr};
  schedule<sharing>(how, [&sum] { return program(sum); });
  schedule([&sum] { return print(sum); }, console_to_stream(std::cout));

  sharing::options one_only;
  one_only.threads = 1;
  std::cout << sharing(one_only).threads() << " thread\n";
}
