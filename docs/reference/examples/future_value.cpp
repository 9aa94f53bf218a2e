// SPDX-License-Identifier: MIT
// Waiting for a future, with a thread or without; a stop, waited for and passed on.
#include <chrono>
#include <future>
#include <iostream>
#include <stop_token>
#include <utility>

#include <weft/adapters/future.hpp>
#include <weft/adapters/stop_token.hpp>
#include <weft/effects/effects.hpp>
#include <weft/io/thread_pool.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

int slow(std::stop_token const& stop, int n) { return stop.stop_requested() ? 0 : n; }

eff<void, timing, blocking_work> program(std::stop_token stop) {
  auto first = std::async(std::launch::async, [] { return 40; });
  auto second = std::async(std::launch::async, [] { return 2; });
  int const a = co_await future_value(std::move(first));  // a thread of the pool is blocked
  int const b = co_await future_value(std::move(second), std::chrono::milliseconds(1));
  std::cout << a + b << '\n';

  std::cout << co_await off_thread_until_cancelled(slow, 7) << '\n';
  co_await stop_requested(std::move(stop));
  std::cout << "a stop was requested\n";
}

int main() {
  std::stop_source source;
  auto const requests = [&source] { source.request_stop(); };
  auto const other = std::async(std::launch::async, requests);
  schedule([&] { return program(source.get_token()); }, thread_pool(1));
}
