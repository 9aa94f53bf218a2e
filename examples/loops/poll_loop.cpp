// SPDX-License-Identifier: MIT

/// A program with a loop of its own, around poll(2), in which processes run between its events.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <string>
#include <utility>

#include "weft/effects/effects.hpp"
#include "weft/io/wakeup_descriptor.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/sync/timing.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

using outside = eff<void, completions, timing>;

outside ticks() {
  for (int i = 1; i != 4; ++i) {
    co_await timing::sleep_for(5ms);
    std::cout << "tick " << i << '\n';
  }
}
outside greets(completion<std::string> name) {
  std::cout << "a name, please\n";
  std::string const n = co_await name.wait();
  std::cout << "hello, " << n << '\n';
}

/// How long the loop may wait, in ms: -1 stands for ever.
int until(std::optional<instant> deadline) {
  if (!deadline) return -1;
  auto const left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - instant::clock::now());
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 60'000));
}

std::string read_from(int fd) {
  std::array<char, 64> bytes;
  auto const n = ::read(fd, bytes.data(), bytes.size());
  return {bytes.data(), n > 0 ? static_cast<std::size_t>(n) : 0};
}

}  // namespace

int main() {
  std::array<int, 2> line;  // stands for what the loop was written for
  if (::pipe(line.data()) != 0 || ::write(line[1], "Ada", 3) != 3) return 1;

  wakeup_descriptor wakeup;
  completer<std::string> name;
  scheduler<> s;
  s.on_wakeup([&] { wakeup.notify(); });
  s.start([&]() -> outside {
    co_await greets(name.get_completion());
    co_await ticks();
  });

  for (;;) {
    poll_result const left = s.poll();
    if (left == poll_result::ended) break;
    int const wait = left == poll_result::ready ? 0 : until(s.next_deadline());
    std::array<pollfd, 2> events = {{{wakeup.get(), POLLIN, 0}, {line[0], POLLIN, 0}}};
    ::poll(events.data(), name.is_open() ? 2 : 1, wait);
    if (events[0].revents != 0) wakeup.clear();
    if (events[1].revents != 0) name.complete(read_from(line[0]));
  }
  std::cout << "the loop goes on by itself\n";
  ::close(line[0]);
  ::close(line[1]);
}
