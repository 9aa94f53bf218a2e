// SPDX-License-Identifier: MIT

/// Our names stand beside those of the C library.

#include <poll.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <string>

#include "deque/deque.hpp"
#include "effects/effects.hpp"
#include "io/connection.hpp"
#include "io/memory_network.hpp"
#include "sched/barrier.hpp"
#include "sched/condition.hpp"
#include "sched/mutex.hpp"
#include "sched/schedule.hpp"
#include "sched/semaphore.hpp"
#include "sched/shared.hpp"

using namespace weft;

namespace {

eff<void, proc, console> child() { co_await console::print{"x"}; }
eff<void, proc, console> parent() {
  co_await fork(child, child);
  co_await proc::exit{};
}

eff<void, emit<int>> ones(int n) {
  for (int i = 0; i != n; ++i) co_await emit<int>::value{1};
}

eff<int, syncing> synchronised() {
  mutex m;
  condition c;
  semaphore one(1);
  barrier alone(1);
  shared<int> n(1);
  auto const held = co_await m.lock();
  c.notify_all();
  co_await one.acquire();
  co_await alone.arrive_and_wait();
  co_return co_await n.get();
}
/// Of what POSIX has as well: listen, connect, accept, send, read, write.
eff<void, networking, mail, routing> talks(int& n) {
  listener here = co_await listen(endpoint());
  connection there = co_await connect(here.local());
  connection visitor = co_await here.accept();
  co_await there.write("four");
  std::array<std::byte, 4> text{};
  co_await visitor.read_all(text);
  bool const is_sent = co_await send(process_id(), n);
  n = is_sent ? -1 : static_cast<int>(text.size());
}
eff<void, syncing> counts(int& n) { n = co_await synchronised(); }

}  // namespace

TEST_CASE("`using namespace weft` hides nothing of the C library, and is hidden by nothing") {
  std::string text;
  schedule(parent, console_to_string(text));
  persistent_deque<int> const d{1};
  CHECK(text == "xx");
  int sum = 0;
  int one_more = 0;
  schedule([&one_more] { return counts(one_more); });
  for (int const one : each(ones, 3)) sum += one;
  CHECK(sum + one_more == 4);
  CHECK(std::abs(-d.front()) == 1);
  int bytes = 0;
  memory_network net;
  schedule([&bytes] { return talks(bytes); }, net);
  CHECK(bytes == 4);
}
