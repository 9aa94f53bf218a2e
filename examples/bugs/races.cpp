// SPDX-License-Identifier: MIT
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "examples/bugs/bugs.hpp"

/// Races: a process acts on what it has read before.

namespace bugs {
namespace {

using namespace weft;

/// A value that was read, and written back after others had written.
struct account {
  mutex m;
  shared<int> balance{100};
  shared<bool> deposited{false}, withdrawn{false};
  bool is_right = true;
};
worker deposits(account& a) {
  auto const held = co_await a.m.lock();
  co_await a.balance.update([](int& n) { n += 300; });
  co_await a.deposited.set(true);
}
worker withdraws(account& a) {
  auto const held = co_await a.m.lock();
  co_await a.balance.update([](int& n) { n -= 100; });
  co_await a.withdrawn.set(true);
}
worker audits(account& a) {
  auto const held = co_await a.m.lock();
  bool const both = co_await a.deposited.get() && co_await a.withdrawn.get();
  if (!both) co_return;
  int const n = co_await a.balance.get();
  a.is_right = n == 100 - 300 - 100;  // the sign is wrong
}
workers account_of(account& a) {
  co_await spawn(deposits, std::ref(a));
  co_await spawn(withdraws, std::ref(a));
  co_await spawn(audits, std::ref(a));
}

struct lazy {
  mutex m;
  int data = 0;
  bool is_right = true;
};
worker adds(lazy& w, int n) {
  auto const held = co_await w.m.lock();
  w.data += n;
}
worker sees_less_than_three(lazy& w) {
  auto const held = co_await w.m.lock();
  w.is_right = w.data < 3;
}
workers lazy_of(lazy& w) {
  co_await spawn(adds, std::ref(w), 1);
  co_await spawn(adds, std::ref(w), 2);
  co_await spawn(sees_less_than_three, std::ref(w));
}

/// Two variables that are set in one order and read in the other.
struct reorder {
  shared<int> a{0}, b{0};
  bool is_right = true;
};
worker sets(reorder& w) {
  co_await w.a.set(1);
  co_await w.b.set(-1);
}
worker reads(reorder& w) {
  int const a = co_await w.a.get();
  int const b = co_await w.b.get();
  if (!((a == 0 && b == 0) || (a == 1 && b == -1))) w.is_right = false;
}
workers reorder_of(reorder& w) {
  for (int i = 0; i != 2; ++i) co_await spawn(sets, std::ref(w));
  co_await spawn(reads, std::ref(w));
}

/// Two stages with a lock each; between them others see the first without the second.
struct stages {
  mutex a, b;
  int first = 0, second = 0;
  bool is_right = true;
};
worker does_both(stages& w) {
  {
    auto const held = co_await w.a.lock();
    w.first = 1;
  }
  auto const held = co_await w.b.lock();
  w.second = w.first + 1;
}
worker sees_both(stages& w) {
  int seen = 0;
  {
    auto const held = co_await w.a.lock();
    seen = w.first;
  }
  if (seen == 0) co_return;
  auto const held = co_await w.b.lock();
  w.is_right = w.second == seen + 1;
}
workers two_stages_of(stages& w) {
  co_await spawn(does_both, std::ref(w));
  co_await spawn(sees_both, std::ref(w));
}

struct wrong_lock {
  mutex mine, theirs;
  shared<int> data{0};
  bool is_right = true;
};
worker increments_twice(wrong_lock& w) {
  auto const held = co_await w.mine.lock();
  int const before = co_await w.data.get();
  co_await w.data.update([](int& n) { ++n; });
  int const after = co_await w.data.get();
  w.is_right = after == before + 1;
}
worker increments_under_another(wrong_lock& w) {
  auto const held = co_await w.theirs.lock();
  co_await w.data.update([](int& n) { ++n; });
}
workers wrong_lock_of(wrong_lock& w) {
  co_await spawn(increments_twice, std::ref(w));
  for (int i = 0; i != 3; ++i) co_await spawn(increments_under_another, std::ref(w));
}

/// A driver counts the requests that are under way, and stops when there are none.
struct driver {
  shared<int> pending{1};
  shared<bool> stopping{false}, drained{false}, stopped{false};
  bool is_right = true;
};
worker releases(driver& d) {
  int const left = co_await d.pending.update([](int& n) { return --n; });
  if (left == 0) co_await d.drained.set(true);
}
worker requests(driver& d) {
  bool const stops = co_await d.stopping.get();
  if (stops) co_return;
  co_await d.pending.update([](int& n) { ++n; });  // the driver may have stopped by now
  bool const is_stopped = co_await d.stopped.get();
  d.is_right = !is_stopped;
  co_await releases(d);
}
worker stops(driver& d) {
  co_await d.stopping.set(true);
  co_await releases(d);
  co_await d.drained.wait_for([](bool b) { return b; });
  co_await d.stopped.set(true);
}
workers driver_of(driver& d) {
  co_await spawn(stops, std::ref(d));
  co_await spawn(requests, std::ref(d));
}

/// One buffer appends another, whose length it asks first.
struct buffers {
  mutex of_other;
  std::string other = "abc", mine;
  bool is_right = true;
};
worker appends(buffers& b) {
  std::size_t length = 0;
  {
    auto const held = co_await b.of_other.lock();
    length = b.other.size();
  }
  auto const held = co_await b.of_other.lock();
  b.is_right = length <= b.other.size();
  b.mine += b.other.substr(0, length);
}
worker empties(buffers& b) {
  auto const held = co_await b.of_other.lock();
  b.other.clear();
}
workers buffers_of(buffers& b) {
  co_await spawn(appends, std::ref(b));
  co_await spawn(empties, std::ref(b));
}

/// The queue of a compressor is destroyed while a consumer still uses it.
struct compressor {
  shared<bool> is_empty{false}, is_destroyed{false};
  bool is_right = true;
};
worker consumes(compressor& c) {
  co_await c.is_empty.set(true);  // the last block was taken
  bool const gone = co_await c.is_destroyed.get();
  c.is_right = !gone;
}
worker ends_the_program(compressor& c) {
  co_await c.is_empty.wait_for([](bool b) { return b; });
  co_await c.is_destroyed.set(true);  // it has not waited for the consumer
}
workers compressor_of(compressor& c) {
  co_await spawn(consumes, std::ref(c));
  co_await spawn(ends_the_program, std::ref(c));
}

/// A deque for work stealing whose owner takes without the lock of the thieves.
struct work_queue {
  mutex m;
  shared<int> head{0}, tail{2};
  int taken[2] = {};
  bool is_right() const { return taken[0] <= 1 && taken[1] <= 1; }
};
worker takes(work_queue& q) {
  for (int i = 0; i != 2; ++i) {
    int const t = co_await q.tail.get() - 1;
    int const h = co_await q.head.get();  // before the new tail is seen by thieves
    co_await q.tail.set(t);
    if (h <= t && t >= 0) ++q.taken[t];
  }
}
worker steals(work_queue& q) {
  auto const held = co_await q.m.lock();
  int const h = co_await q.head.get();
  co_await q.head.set(h + 1);
  int const t = co_await q.tail.get();
  if (h < t)
    ++q.taken[h];
  else
    co_await q.head.set(h);
}
workers work_queue_of(work_queue& q) {
  co_await spawn(takes, std::ref(q));
  co_await spawn(steals, std::ref(q));
}

/// A stack of three cells, and three processes that pop and push: needs many preemptions.
struct cells {
  struct cell {
    shared<int> next{-1};
    int users = 0;
  };
  cell all[3];
  shared<int> head{0}, count{3};
  bool is_right = true;
  cells() = default;
};
worker links_cells(cells& c) {
  co_await c.all[0].next.set(1);
  co_await c.all[1].next.set(2);
}
eff<int, syncing> pops(cells& c) {
  for (;;) {
    int const n = co_await c.count.get();
    if (n <= 1) co_return -1;
    int const h = co_await c.head.get();
    if (h < 0) continue;
    int const next = co_await c.all[h].next.update([](int& at) { return std::exchange(at, -1); });
    if (next < 0) continue;
    bool const won = co_await c.head.update([h, next](int& at) {
      if (at != h) return false;
      at = next;
      return true;
    });
    if (won) {
      co_await c.count.update([](int& k) { --k; });
      co_return h;
    }
    co_await c.all[h].next.set(next);
  }
}
worker pushes(cells& c, int i) {
  for (;;) {
    int const h = co_await c.head.get();
    co_await c.all[i].next.set(h);
    bool const won = co_await c.head.update([h, i](int& at) {
      if (at != h) return false;
      at = i;
      return true;
    });
    if (won) break;
  }
  co_await c.count.update([](int& k) { ++k; });
}
worker uses_cells(cells& c) {
  for (int round = 0; round != 2; ++round) {
    int i = -1;
    for (int tries = 0; tries != 3 && i < 0; ++tries) i = co_await pops(c);
    if (i < 0) co_return;
    if (++c.all[i].users != 1) c.is_right = false;
    co_await syncing::touch(&c.all[i].users, true);
    --c.all[i].users;
    co_await pushes(c, i);
  }
}
workers cells_of(cells& c) {
  co_await links_cells(c);
  for (int i = 0; i != 3; ++i) co_await spawn(uses_cells, std::ref(c));
}

/// A reference count that is loaded and stored in two steps.
struct counted {
  shared<int> count{2};
  int destroyed = 0;
};
worker drops(counted& c) {
  int const n = co_await c.count.get();
  co_await c.count.set(n - 1);
  if (n == 1) ++c.destroyed;
}
workers counted_of(counted& c) {
  for (int i = 0; i != 2; ++i) co_await spawn(drops, std::ref(c));
}

/// A test expects the value of a variable before the other thread has written it.
struct early {
  mutex m;
  int value = 0;
  bool is_right = true;
};
worker writes_early(early& w) {
  auto const held = co_await w.m.lock();
  w.value = 1;
}
worker expects_zero(early& w) {
  auto const held = co_await w.m.lock();
  w.is_right = w.value == 0;
}
workers early_of(early& w) {
  co_await spawn(writes_early, std::ref(w));
  co_await spawn(expects_zero, std::ref(w));
}

template <class W>
bool right(W& w) {
  if constexpr (requires { w.is_right(); })
    return w.is_right();
  else
    return w.is_right;
}
bool destroyed_once(counted& c) { return c.destroyed == 1; }

}  // namespace

std::vector<bug> const races = {
    {"account", "race", "SCTBench", look<account, account_of, right<account>>},
    {"lazy", "race", "SCTBench", look<lazy, lazy_of, right<lazy>>},
    {"reorder", "race", "SCTBench", look<reorder, reorder_of, right<reorder>>},
    {"two stages", "race", "SCTBench", look<stages, two_stages_of, right<stages>>},
    {"wrong lock", "race", "SCTBench", look<wrong_lock, wrong_lock_of, right<wrong_lock>>},
    {"bluetooth driver", "race", "SCTBench", look<driver, driver_of, right<driver>>},
    {"string buffer", "race", "SCTBench", look<buffers, buffers_of, right<buffers>>},
    {"compressor", "use after the end", "SCTBench",
     look<compressor, compressor_of, right<compressor>>},
    {"work stealing", "race", "SCTBench", look<work_queue, work_queue_of, right<work_queue>>},
    {"safe stack", "ABA", "SCTBench", look<cells, cells_of, right<cells>>, false},
    {"reference count", "race", "loom", look<counted, counted_of, destroyed_once>},
    {"early check", "order", "shuttle", look<early, early_of, right<early>>},
};

}  // namespace bugs
