// SPDX-License-Identifier: MIT

/// Twenty requests, with a limit on how many run at a time.
///
/// Each is a task of one scope.  A semaphore has a permit for each request that may run; a task
/// that finds none waits, and blocks no thread.  When the scope has ended, all tasks have:
/// answered, or cancelled, by the timeout or because one of them has failed.  A destructor gives
/// the permit back, so an unwound task gives it back too.
///
/// Time is virtual here: the program takes none, and always prints the same times.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>
#include <weft/sched/tasks/scope.hpp>

using namespace weft;
using namespace std::chrono_literals;

constexpr int requests = 20;

struct server {
  explicit server(int broken) : breaks_at(broken) {}
  int breaks_at;
  std::atomic<int> at_once = 0;
  std::atomic<int> most = 0;
  std::atomic<int> answered = 0;
};

/// A request that is running.
class visit {
 public:
  visit(server& s, semaphore& permits) : server_(s), permits_(permits) {
    int const n = ++s.at_once;
    int seen = s.most;
    while (seen < n && !s.most.compare_exchange_weak(seen, n)) {
    }
  }
  visit(visit const&) = delete;
  visit& operator=(visit const&) = delete;
  ~visit() {
    --server_.at_once;
    permits_.release();
  }

 private:
  server& server_;
  semaphore& permits_;
};

eff<void, syncing, timing> request(server& s, semaphore& permits, int number) {
  co_await permits.acquire();
  visit const here(s, permits);
  bool const is_broken = number == s.breaks_at;
  instant::duration const time = is_broken ? 5ms : 10ms;
  co_await timing::sleep_for{time};
  if (is_broken) throw std::runtime_error("request " + std::to_string(number) + " failed");
  ++s.answered;
}

using fans_out = eff<void, tasking<syncing, timing>, timing, console>;

fans_out ask(std::size_t limit, int broken = -1, std::chrono::milliseconds patience = 1h) {
  server s(broken);
  semaphore permits(limit);
  instant const begun = co_await timing::now{};
  std::string end = "all is done";
  try {
    co_await with_scope({.timeout = patience}, [&](auto& in) {
      for (int n = 0; n != requests; ++n) in.start(request, std::ref(s), std::ref(permits), n);
    });
  } catch (std::exception const& e) {
    end = e.what();
  }
  instant const now = co_await timing::now{};
  auto const took = std::chrono::duration_cast<std::chrono::milliseconds>(now - begun);
  std::string const line = "limit " + std::to_string(limit) + ": " + std::to_string(s.most) +
                           " at once, " + std::to_string(s.answered) + " answered, " +
                           std::to_string(took.count()) + " ms, " + std::to_string(s.at_once) +
                           " left; " + end;
  co_await console::print_line(line);
}

fans_out program() {
  for (std::size_t const limit : {1U, 4U, 7U, 20U}) co_await ask(limit);
  co_await ask(4, -1, 35ms);
  co_await ask(requests, 13);
}

int main(int argc, char** argv) {
  examples::backend(argc, argv).schedule_in_virtual_time(program, console_to_stream(std::cout));
}
