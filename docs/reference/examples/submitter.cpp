// SPDX-License-Identifier: MIT
// Processes that are submitted from another thread, and an orderly end of the scheduler.
#include <chrono>
#include <future>
#include <iostream>
#include <thread>

#include <weft/effects/effects.hpp>
#include <weft/sched/runtime/submitter.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;
using namespace std::chrono_literals;

eff<int, timing> doubles(int n) {
  co_await timing::now{};
  co_return 2 * n;
}
eff<void, timing> sleeps() { co_await timing::sleep_for{1000h}; }
eff<void, timing> program() { co_await timing::now{}; }

int main() {
  scheduler<> s;
  s.start(program);
  submitter<one_thread, timing> outside = s.submitter<timing>();
  std::jthread runs([&s] { s.run(); });

  std::future<int> twice = outside.submit_task(doubles, 21);
  std::cout << twice.get() << '\n';
  process_id const id = outside.submit(sleeps);
  std::cout << id.text() << '\n';

  shutdown_report const report = s.shut_down(10s, "end of the day");
  std::cout << "in time: " << report.in_time << ", unwound: " << report.left.size() << '\n';
  for (shutdown_report::unwound const& u : report.left) std::cout << u.process.text() << u.what;
  try {
    outside.submit(sleeps);
  } catch (scheduler_stopped const&) {
    std::cout << "scheduler_stopped\n";
  }
}
