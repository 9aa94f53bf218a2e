// SPDX-License-Identifier: MIT
// A value from another thread: waited for, failed, dropped.
#include <exception>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

eff<void, completions> waits(completion<int> answer, completion<void> fails,
                             completion<int> dropped, completion<int> silent) {
  int const n = co_await answer.wait();
  auto const in_time = co_await silent.wait_until(instant());  // that is past
  std::cout << n << ' ' << in_time.has_value() << silent.is_ready() << '\n';
  try {
    co_await fails.wait();
  } catch (std::runtime_error const& e) {
    std::cout << e.what() << '\n';
  }
  try {
    (void)co_await dropped.wait();
  } catch (completion_dropped const&) {
    std::cout << "completion_dropped\n";
  }
}

int main() {
  completer<int> source, silent;
  completer<void> failing;
  failing.fail(std::make_exception_ptr(std::runtime_error("no answer")));
  std::cout << failing.is_open() << silent.is_open() << '\n';
  auto const program = [&]() -> eff<void, spawning<completions>> {
    completion<int> lost = completer<int>().get_completion();
    co_await spawn(waits, source.get_completion(), failing.get_completion(), std::move(lost),
                   silent.get_completion());
  };
  std::jthread const server([&source] { source.complete(42); });
  schedule(program);
}
