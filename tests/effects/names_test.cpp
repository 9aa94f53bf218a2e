// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "tests/prelude.hpp"
#include "weft/io/connection.hpp"
#include "weft/io/dump_on_signal.hpp"
#include "weft/io/memory_network.hpp"
#include "weft/trace/trace_files.hpp"
#include "weft/trace/traced_handler.hpp"
#include "weft/trace/tracing.hpp"

/// The names of weft beside those of the C library.

eff<void, proc, console> child() { co_await console::print{"x"}; }
eff<void, proc, console> parent() {
  co_await fork(child, child);
  co_await proc::exit{};
}

eff<int, failure<int>> half(int n) {
  if (n % 2 != 0) co_await failure<int>::fail(n);
  co_return n / 2;
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
/// Uses names that POSIX also has: listen, connect, accept, send, read, write.
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
/// Uses further names of POSIX: open, select.
eff<void, mail> waits(int& n) {
  auto [in, to] = co_await open<int>();
  co_await to.send(4);
  auto const got = co_await select(in);
  n = std::get<0>(got);
}
eff<void, syncing> counts(int& n) { n = co_await synchronised(); }

TEST_CASE(
    "`using namespace weft` hides no name of the C library, and no such name hides one of weft") {
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
  int message = 0;
  schedule([&message] { return waits(message); });
  CHECK(message == 4);
  CHECK(run(handle(failure_to_optional<int>(), half(8))) == 4);
  CHECK(run(handle(failure_to_optional<int>(), half(7))) == std::nullopt);
}
