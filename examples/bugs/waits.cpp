// SPDX-License-Identifier: MIT
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "examples/bugs/bugs.hpp"
#include "weft/sched/sync/condition.hpp"
#include "weft/sched/sync/semaphore.hpp"

/// Deadlocks: each process waits for another one.

namespace bugs {
namespace {

using namespace weft;

/// Two locks, taken in two orders.
struct two_locks {
  mutex a, b;
};
worker takes_both(mutex& first, mutex& second) {
  auto const one = co_await first.lock();
  auto const two = co_await second.lock();
}
workers two_locks_of(two_locks& w) {
  co_await spawn(takes_both, std::ref(w.a), std::ref(w.b));
  co_await spawn(takes_both, std::ref(w.b), std::ref(w.a));
}

/// Two groups share a lock: the first of a group takes it, the last gives it back.
struct groups {
  mutex counts;
  semaphore shared_lock{1};
  int in[2] = {};
};
worker uses_as_group(groups& w, int g) {
  {
    auto const held = co_await w.counts.lock();
    if (++w.in[g] == 1) co_await w.shared_lock.acquire();  // while it holds the lock of the counts
  }
  auto const held = co_await w.counts.lock();
  if (--w.in[g] == 0) w.shared_lock.release();
}
workers groups_of(groups& w) {
  for (int i = 0; i != 2; ++i) co_await spawn(uses_as_group, std::ref(w), i);
}

struct forks {
  mutex all[3];
};
worker dines(forks& f, int i) {
  auto const left = co_await f.all[i].lock();
  auto const right = co_await f.all[(i + 1) % 3].lock();
}
workers forks_of(forks& f) {
  for (int i = 0; i != 3; ++i) co_await spawn(dines, std::ref(f), i);
}

/// A bounded buffer with one condition, which wakes one process: perhaps the wrong one.
struct buffer {
  mutex m;
  condition changed;
  std::deque<int> all;
};
worker puts(buffer& b) {
  for (int i = 0; i != 2; ++i) {
    auto held = co_await b.m.lock();
    while (b.all.size() == 1) co_await b.changed.wait(held);
    b.all.push_back(i);
    b.changed.notify_one();
  }
}
worker gets(buffer& b) {
  for (int i = 0; i != 2; ++i) {
    auto held = co_await b.m.lock();
    while (b.all.empty()) co_await b.changed.wait(held);
    b.all.pop_front();
    b.changed.notify_one();
  }
}
workers buffer_of(buffer& b) {
  for (int i = 0; i != 2; ++i) {
    co_await spawn(puts, std::ref(b));
    co_await spawn(gets, std::ref(b));
  }
}

/// A channel without room: a send waits until the message was received.
struct rendezvous {
  semaphore offered{0}, taken{0};
  worker send() {
    offered.release();
    co_await taken.acquire();
  }
  worker receive() {
    co_await offered.acquire();
    taken.release();
  }
};

/// A process sends while it holds the lock that the receiver takes for each message.
struct manager {
  mutex statuses;
  rendezvous changes;
};
worker syncs(manager& m) {
  for (int i = 0; i != 2; ++i) {
    co_await m.changes.receive();
    auto const held = co_await m.statuses.lock();
  }
}
worker sets_status(manager& m) {
  auto const held = co_await m.statuses.lock();
  co_await m.changes.send();
}
workers manager_of(manager& m) {
  co_await spawn(syncs, std::ref(m));
  for (int i = 0; i != 2; ++i) co_await spawn(sets_status, std::ref(m));
}

/// A monitor looks for a message and takes a lock in turn; the sender holds that lock.
struct container {
  mutex m;
  rendezvous stop;
};
worker monitors(container& c) {
  for (int i = 0; i != 3; ++i) {
    bool const is_to_stop = co_await c.stop.offered.try_acquire();
    if (is_to_stop) {
      c.stop.taken.release();
      co_return;
    }
    auto const held = co_await c.m.lock();
  }
  co_await c.stop.receive();
}
worker changes_state(container& c) {
  auto const held = co_await c.m.lock();
  co_await c.stop.send();
}
workers container_of(container& c) {
  co_await spawn(monitors, std::ref(c));
  co_await spawn(changes_state, std::ref(c));
}

/// A lock for many readers or one writer, in which a writer that waits keeps new readers out.
struct readers_lock {
  shared<std::pair<int, bool>> state{{0, false}};  // readers; whether a writer is in, or waits
  worker read() {
    for (;;) {
      co_await state.wait_for([](auto const& s) { return !s.second; });
      bool const is_in =
          co_await state.update([](auto& s) { return s.second ? false : ++s.first > 0; });
      if (is_in) co_return;
    }
  }
  worker end_read() {
    co_await state.update([](auto& s) { --s.first; });
  }
  worker write() {
    co_await state.update([](auto& s) { s.second = true; });
    co_await state.wait_for([](auto const& s) { return s.first == 0; });
  }
  worker end_write() {
    co_await state.update([](auto& s) { s.second = false; });
  }
};
/// A reader reads again, while it reads, to print what it has; a writer waits in between.
struct cache {
  readers_lock lock;
};
worker looks_up(cache& c) {
  co_await c.lock.read();
  co_await c.lock.read();  // for the text of the log
  co_await c.lock.end_read();
  co_await c.lock.end_read();
  co_await c.lock.write();
  co_await c.lock.end_write();
}
workers cache_of(cache& c) {
  for (int i = 0; i != 2; ++i) co_await spawn(looks_up, std::ref(c));
}

/// A process looks, and sleeps if there is nothing; the wake comes in between.
struct sleeper {
  shared<bool> is_there{false};
  gate bell;
};
worker looks_then_sleeps(sleeper& s) {
  bool const is_there = co_await s.is_there.get();
  if (!is_there) co_await syncing::wait(s.bell);
}
worker brings_and_rings(sleeper& s) {
  co_await s.is_there.set(true);
  co_await syncing::wake(s.bell);
}
workers sleeper_of(sleeper& s) {
  co_await spawn(looks_then_sleeps, std::ref(s));
  co_await spawn(brings_and_rings, std::ref(s));
}

}  // namespace

std::vector<bug> const waits = {
    {"two locks", "deadlock", "SCTBench", look<two_locks, two_locks_of, ends>},
    {"groups", "deadlock", "SCTBench", look<groups, groups_of, ends>},
    {"philosophers", "deadlock", "SCTBench", look<forks, forks_of, ends>},
    {"bounded buffer", "deadlock", "shuttle", look<buffer, buffer_of, ends>},
    {"kubernetes 10182", "deadlock", "GoKer", look<manager, manager_of, ends>},
    {"moby 28462", "deadlock", "GoKer", look<container, container_of, ends>},
    {"cockroach 6181", "deadlock", "GoKer", look<cache, cache_of, ends>},
    {"lost wake-up", "deadlock", "JaConTeBe", look<sleeper, sleeper_of, ends>},
};

}  // namespace bugs
