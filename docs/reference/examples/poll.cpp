// SPDX-License-Identifier: MIT
// A scheduler that the loop of another library polls, and how events call the loop back.
#include <poll.h>

#include <iostream>
#include <thread>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/io/wakeup_descriptor.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/sync/completion.hpp>
using namespace weft;

static_assert(leaving_backend<one_thread>);  // scheduler<> can be called back

int main() {
  completer<int> source;
  auto result = source.get_completion();
  wakeup_descriptor wakeup;
  scheduler<> s;
  s.on_wakeup([&] { wakeup.notify(); });
  s.start([&]() -> eff<void, completions> { std::cout << co_await result.wait() << '\n'; });

  poll_result left = s.poll();
  while (left == poll_result::ready) left = s.poll();  // a loop would handle its events in between
  if (left == poll_result::waiting) std::cout << "nothing is ready\n";
  if (!s.next_deadline()) std::cout << "nothing is due at a time\n";
  std::thread other([to = std::move(source)]() mutable { to.complete(42); });
  pollfd event = {wakeup.get(), POLLIN, 0};
  ::poll(&event, 1, -1);  // a loop would wait for its own descriptors, too
  wakeup.clear();
  if (s.poll() == poll_result::ended) std::cout << "and now all have ended\n";
  other.join();
}
