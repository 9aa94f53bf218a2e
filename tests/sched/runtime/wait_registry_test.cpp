// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// cancel_if() cancels the waits of the selected processes, wherever they wait, and of no other:
/// sched/runtime/detail/wait_registry.hpp.

using step = eff<void, proc, syncing, mail, routing, timing, completions>;
using children = spawning<proc, syncing, mail, routing, timing, completions>;

/// The scheduler of the running process, which has no handler inside.
weft::detail::scheduler_core& scheduler_here() {
  return static_cast<weft::detail::scheduler_core&>(*weft::detail::prompt::innermost());
}

BACKENDS_TEST_CASE("cancel_if cancels many processes, and the others keep their order", "",
                   on_one_thread, on_locked_queue, on_sharing<1>) {
  constexpr int many = 300;
  every_frame_dies const check;
  std::vector<int> order;
  std::vector<int> received;
  counter gone = 0;
  run_on(chosen, [&]() -> eff<void, children, proc, syncing, mail> {
    gate at;
    auto full = co_await open<int>({.capacity = 1});
    co_await full.to.send(-1);
    std::vector<process_id> meant;
    auto const waits = [](gate& g, std::vector<int>& to, int n, counter& done) -> step {
      co_await syncing::wait{g};
      if (n % 3 == 0) to.push_back(n);
      ++done;
    };
    auto const puts = [](address<int> to, int n, counter& done) -> step {
      (void)co_await to.send(n);
      ++done;
    };
    for (int n = 0; n != many; ++n) {
      process_id const a = co_await spawn(waits, std::ref(at), std::ref(order), n, std::ref(gone));
      process_id const b = co_await spawn(puts, full.to, n, std::ref(gone));
      if (n % 3 != 0) meant.insert(meant.end(), {a, b});
    }
    auto const is_meant = [&meant](process const& p) noexcept {
      return std::ranges::binary_search(meant, p.id());
    };
    std::ranges::sort(meant);
    while (at.waiting() != many) co_await proc::yield{};
    for (int i = 0; i != 3; ++i) co_await proc::yield{};
    scheduler_here().waits.cancel_if(is_meant);
    while (gone != many / 3 * 4) co_await proc::yield{};
    co_await syncing::wake(at, many);
    for (int n = 0; n != many / 3 + 1; ++n) received.push_back(co_await full.in.receive());
  });
  std::vector<int> expected;
  for (int n = 0; n != many; n += 3) expected.push_back(n);
  CHECK(order == expected);
  expected.insert(expected.begin(), -1);
  CHECK(received == expected);
}

using everywhere = std::tuple<on_one_thread, on_locked_queue, in_random_order, on_sharing<1>,
                              on_sharing<2>, on_sharing<4>, on_stealing<3>>;

using program = eff<void, children, proc, syncing, mail, routing, timing, completions>;

/// Reads the parts of a process that may be read while it waits: its frames, from the innermost
/// out.
bool has_frames(process const& p) noexcept {
  std::size_t n = 0;
  weft::detail::continuation at(p.leaf());
  for (; at.is_frame(); at = weft::detail::frame_of(at.frame()).parent) ++n;
  return n != 0 && !p.operation().name.empty();
}

enum kind : unsigned {
  at_a_gate,
  at_a_gate_in_time,
  asleep,
  outside,
  outside_in_time,
  receiving,
  receiving_in_time,
  selecting,
  sending,
  sending_by_id,
  kinds
};

/// The objects that the processes wait at.
struct places {
  gate at;
  gate in_time;
  std::array<external_event, 8> opens;
  std::atomic<bool> is_released = false;
  std::array<counter, kinds> early{};  // resumed before the release
  std::array<counter, kinds> late{};
  counter wrong = 0;  // wrong answers

  void goes_on(kind k) { ++(is_released ? late : early)[k]; }
  void is_answered(kind k, bool as_released) {
    if (as_released != is_released) ++wrong;
    goes_on(k);
  }
  [[nodiscard]] int all_early() const {
    int n = 0;
    for (auto const& e : early) n += e;
    return n;
  }
};

step waits_at_gate(places& at) {
  co_await syncing::wait{at.at};
  at.goes_on(at_a_gate);
}
step waits_at_gate_in_time(places& at) {
  instant const now = co_await timing::now{};
  auto const seen = at.in_time.epoch();
  bool const was_woken = co_await syncing::wait_until(at.in_time, seen, now + 1h);
  at.is_answered(at_a_gate_in_time, was_woken);
}
step sleeps(places& at) {
  co_await timing::sleep_for(1h);
  at.goes_on(asleep);
}
step waits_outside(places& at, std::size_t i) {
  co_await completions::wait{at.opens[i]};
  at.goes_on(outside);
}
step waits_outside_in_time(places& at, std::size_t i) {
  instant const now = co_await timing::now{};
  bool const was_opened = co_await completions::wait_until(at.opens[i], now + 1h);
  at.is_answered(outside_in_time, was_opened);
}
step receives(places& at, inbox<int> in) {
  bool has_come = false;
  try {
    has_come = co_await in.receive() == 7;
  } catch (std::logic_error const&) {  // a reply without a message
  }
  at.is_answered(receiving, has_come);
}
step receives_in_time(places& at, inbox<int> in) {
  instant const now = co_await timing::now{};
  auto const m = co_await in.receive_until(now + 1h);
  at.is_answered(receiving_in_time, m.has_value());
}
step selects(places& at, inbox<int> a, inbox<int> b) {
  bool has_come = false;
  try {
    auto const m = co_await select(a, b);
    has_come = m.index() == 1;
  } catch (std::logic_error const&) {  // as above
  }
  at.is_answered(selecting, has_come);
}
step sends(places& at, address<int> to, int n) {
  bool const was_sent = co_await to.send(n);
  at.is_answered(sending, was_sent);
}
step sends_by_id(places& at, process_id to, int n) {
  bool const was_sent = co_await send(to, n);
  at.is_answered(sending_by_id, was_sent);
}

/// Two selected processes of each kind, between two that are not.
program all_kinds(places& at) {
  auto full = co_await open<int>({.capacity = 1});
  auto full_by_id = co_await open_inbox<int>({.capacity = 1});
  process_id const self = full_by_id.owner();
  co_await full.to.send(0);
  co_await send(self, 0);
  std::vector<address<int>> to;
  std::vector<address<int>> never;
  std::vector<process_id> meant;
  for (std::size_t i = 0; i != 4; ++i) {
    int const n = static_cast<int>(i) + 1;
    auto in = co_await open<int>();
    auto in_time = co_await open<int>();
    auto first = co_await open<int>();
    auto second = co_await open<int>();
    to.insert(to.end(), {in.to, in_time.to, second.to});
    never.push_back(first.to);
    std::array const born = {
        co_await spawn(waits_at_gate, std::ref(at)),
        co_await spawn(waits_at_gate_in_time, std::ref(at)),
        co_await spawn(sleeps, std::ref(at)),
        co_await spawn(waits_outside, std::ref(at), 2 * i),
        co_await spawn(waits_outside_in_time, std::ref(at), 2 * i + 1),
        co_await spawn(receives, std::ref(at), std::move(in.in)),
        co_await spawn(receives_in_time, std::ref(at), std::move(in_time.in)),
        co_await spawn(selects, std::ref(at), std::move(first.in), std::move(second.in)),
        co_await spawn(sends, std::ref(at), full.to, n),
        co_await spawn(sends_by_id, std::ref(at), self, n),
    };
    if (i % 2 == 1) meant.insert(meant.end(), born.begin(), born.end());
  }
  auto const is_meant = [&meant](process const& p) noexcept {
    return has_frames(p) && std::ranges::find(meant, p.id()) != meant.end();
  };
  while (at.all_early() != 2 * kinds) {
    scheduler_here().waits.cancel_if(is_meant);
    co_await proc::yield{};
  }
  // A process that continues now has been woken wrongly.
  for (int i = 0; i != 100; ++i) {
    scheduler_here().waits.cancel_if(is_meant);
    co_await proc::yield{};
  }
  at.is_released = true;
  // A process that does not wait yet is not woken.
  while (at.late[at_a_gate] != 2 || at.late[at_a_gate_in_time] != 2) {
    co_await syncing::wake(at.at, 4);
    co_await syncing::wake(at.in_time, 4);
    co_await proc::yield{};
  }
  for (auto& g : at.opens) g.open();
  for (auto& a : to) (void)co_await a.send(7);
  // Messages that were not sent do not arrive.
  int sum = 0;
  for (int i = 0; i != 3; ++i) {
    sum += co_await full.in.receive();
    sum += co_await full_by_id.receive();
  }
  if (sum != 2 * (1 + 3)) ++at.wrong;
  auto const rest = co_await full.in.try_receive();
  auto const rest_by_id = co_await full_by_id.try_receive();
  if (rest || rest_by_id) ++at.wrong;
}

TEMPLATE_LIST_TEST_CASE(
    "cancel_if cancels the selected processes wherever they wait, and the others wait on", "",
    everywhere) {
  for (int round = 0; round != rounds(50); ++round) {
    every_frame_dies const check;
    places at;
    run_on<TestType>(virtual_time<TestType>(), [&at] { return all_kinds(at); });
    for (unsigned k = 0; k != kinds; ++k) {
      CAPTURE(k);
      CHECK(at.early[k] == 2);
      CHECK(at.late[k] == 2);
    }
    CHECK(at.wrong == 0);
  }
}

using spawner = eff<void, spawning<proc>, proc, syncing>;
/// Counts a started child if spawn yields an id other than the first: a process that was turned
/// away gets the first one's.  Begins when `may_begin` is set.
spawner starts_others(int n, counter& may_begin, counter& started, counter& born, counter& over) {
  while (may_begin == 0) co_await proc::yield{};
  auto const child = [](counter& count) -> eff<void, proc> {
    ++count;
    co_await proc::yield{};
  };
  for (int i = 0; i != n; ++i) {
    process_id const id = co_await spawn(child, std::ref(born));
    if (id != process_id()) ++started;
  }
  ++over;
}

TEMPLATE_LIST_TEST_CASE(
    "a process that waits for room and is cancelled by cancel_if has not spawned", "", everywhere) {
  for (int round = 0; round != rounds(50); ++round) {
    every_frame_dies const check;
    auto how = TestType::how();
    how.max_processes = 3;
    how.when_full = overflow_policy::wait;
    counter both_are_there = 0, started = 0, born = 0, over = 0, others_early = 0;
    run_on<TestType>(how, [&]() -> eff<void, spawning<spawning<proc>, proc, syncing>, proc> {
      process_id const a = co_await spawn(starts_others, 1, std::ref(both_are_there),
                                          std::ref(started), std::ref(born), std::ref(over));
      process_id const b = co_await spawn(starts_others, 1, std::ref(both_are_there),
                                          std::ref(started), std::ref(born), std::ref(over));
      (void)b;
      both_are_there = 1;  // so that there is no room for what one of them starts
      while (over == 0) {
        scheduler_here().waits.cancel_if([a](process const& p) noexcept { return p.id() == a; });
        if (over == 0) others_early = born.load();
        co_await proc::yield{};
      }
    });
    CHECK(others_early == 0);
    CHECK(over == 2);
    CHECK(started == 1);
    CHECK(born == 1);
  }
}

// ---- all at once

constexpr int waiters = 6;

struct crowd {
  crowd(unsigned s, int n) : seed(s), each(n) {
    for (auto& g : gates)
      for (int i = 0; i != n; ++i) g.push_back(std::make_unique<external_event>());
  }
  unsigned seed;
  int each;  // how often a waiter waits
  gate at;
  std::array<std::vector<std::unique_ptr<external_event>>, waiters> gates;
  std::array<counter, waiters> now{};  // the event that it waits at
  counter over = 0;                    // waiters that have waited enough
  counter helpers_over = 0;
  std::atomic<long> sent = 0, received = 0, passed = 0, taken = 0;
};

step waits_in_crowd(crowd& c, int me, inbox<int> a, inbox<int> b, address<int> full) {
  dice next(c.seed * 100 + static_cast<unsigned>(me));
  for (int i = 0; i != c.each; ++i) {
    c.now[static_cast<std::size_t>(me)] = i;
    auto& own = *c.gates[static_cast<std::size_t>(me)][static_cast<std::size_t>(i)];
    instant const soon = co_await timing::now{} + 1us;
    auto const seen = c.at.epoch();
    try {
      switch (next(8)) {
        case 0:
          co_await syncing::wait(c.at, seen);
          break;
        case 1:
          co_await syncing::wait_until(c.at, seen, soon);
          break;
        case 2:
          co_await timing::sleep_until(soon);
          break;
        case 3:
          co_await completions::wait{own};
          break;
        case 4:
          co_await completions::wait_until(own, soon);
          break;
        case 5:
          c.received += co_await a.receive();
          break;
        case 6: {
          auto const m = co_await select(a, b);
          c.received += m.index() == 0 ? std::get<0>(m) : std::get<1>(m);
          break;
        }
        default: {
          bool const has_passed = co_await full.send(i + 1);
          if (has_passed) c.passed += i + 1;
        }
      }
    } catch (std::logic_error const&) {  // woken without a message
    }
  }
  ++c.over;
  while (c.helpers_over != 4) co_await proc::yield{};
  for (auto m = co_await a.try_receive(); m; m = co_await a.try_receive()) c.received += *m;
  for (auto m = co_await b.try_receive(); m; m = co_await b.try_receive()) c.received += *m;
}
step wakes_in_crowd(crowd& c, std::vector<address<int>> to, unsigned me) {
  dice next(c.seed * 100 + 50 + me);
  while (c.over != waiters) {
    co_await syncing::wake{c.at};
    std::size_t const i = next(waiters);
    int const at = c.now[i];
    c.gates[i][static_cast<std::size_t>(at)]->open();
    int const n = static_cast<int>(next(9)) + 1;
    bool const was_sent = co_await to[next(static_cast<unsigned>(to.size()))].send(n);
    if (was_sent) c.sent += n;
    co_await proc::yield{};
  }
  ++c.helpers_over;
}
step takes_in_crowd(crowd& c, inbox<int>& full) {
  while (c.over != waiters) {
    auto const m = co_await full.try_receive();
    if (m) c.taken += *m;
    co_await proc::yield{};
  }
  ++c.helpers_over;
}
step sweeps_in_crowd(crowd& c, unsigned turn) {
  while (c.over != waiters) {
    ++turn;
    scheduler_here().waits.cancel_if([turn](process const& p) noexcept {
      return has_frames(p) && p.id().hash() % 5 == turn % 5;
    });
    co_await proc::yield{};
  }
  ++c.helpers_over;
}

program crowds(crowd& c) {
  auto full = co_await open<int>({.capacity = 1});
  std::vector<address<int>> to;
  for (int i = 0; i != waiters; ++i) {
    auto a = co_await open<int>();
    auto b = co_await open<int>();
    to.insert(to.end(), {a.to, b.to});
    co_await spawn(waits_in_crowd, std::ref(c), i, std::move(a.in), std::move(b.in), full.to);
  }
  co_await spawn(wakes_in_crowd, std::ref(c), to, 0U);
  co_await spawn(takes_in_crowd, std::ref(c), std::ref(full.in));
  co_await spawn(sweeps_in_crowd, std::ref(c), 0U);
  co_await spawn(sweeps_in_crowd, std::ref(c), 2U);
  while (c.helpers_over != 4) co_await proc::yield{};
  for (auto m = co_await full.in.try_receive(); m; m = co_await full.in.try_receive())
    c.taken += *m;
}

BACKENDS_TEST_CASE("while processes wait, wake and call cancel_if each message is received once",
                   "", on_one_thread, in_random_order, on_sharing<2>, on_sharing<4>, on_stealing<2>,
                   on_stealing<3>) {
  for (unsigned seed = 1; seed != static_cast<unsigned>(rounds(100)) + 1; ++seed) {
    CAPTURE(seed);
    every_frame_dies const check;
    crowd c(seed, 100);
    run_on(chosen, [&c] { return crowds(c); });
    CHECK(c.over == waiters);
    CHECK(c.sent == c.received);
    CHECK(c.passed == c.taken);
  }
}

BACKENDS_TEST_CASE("a process that waits for room is either let in or cancelled by cancel_if, once",
                   "", on_one_thread, in_random_order, on_sharing<2>, on_sharing<4>,
                   on_stealing<3>) {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    auto how = options();
    how.max_processes = 7;
    how.when_full = overflow_policy::wait;
    counter may_begin = 1, started = 0, born = 0, over = 0;
    run_on(chosen, how, [&]() -> eff<void, spawning<spawning<proc>, proc, syncing>, proc> {
      for (int i = 0; i != 5; ++i)
        co_await spawn(starts_others, 50, std::ref(may_begin), std::ref(started), std::ref(born),
                       std::ref(over));
      for (unsigned turn = 0; over != 5; ++turn) {
        scheduler_here().waits.cancel_if([turn](process const& p) noexcept {
          return has_frames(p) && p.id().hash() % 5 == turn % 5;
        });
        co_await proc::yield{};
      }
    });
    CHECK(started == born);
  }
}

// ---- processes that come after all lists were scanned

using task = eff<void, tasking<proc, syncing, mail, routing, timing, completions>, proc, syncing,
                 mail, routing, timing, completions>;

/// Waits at each kind of place when its group has been cancelled: each wait throws, with the
/// reason.
task hears_it_everywhere(places& at, std::atomic<bool>& begun, std::atomic<unsigned>& heard) {
  auto empty = co_await open<int>();
  auto other = co_await open<int>();
  auto full = co_await open<int>({.capacity = 1});
  auto full_by_id = co_await open_inbox<int>({.capacity = 1});
  co_await full.to.send(0);
  co_await send(full_by_id.owner(), 0);
  instant const then = co_await timing::now{} + 1h;
  begun = true;
  try {
    for (;;) co_await proc::yield{};
  } catch (cancelled const&) {
  }
  for (unsigned k = 0; k != 10; ++k) {
    try {
      switch (k) {
        case 0:
          co_await syncing::wait{at.at};
          break;
        case 1:
          co_await syncing::wait_until(at.at, at.at.epoch(), then);
          break;
        case 2:
          co_await timing::sleep_until(then);
          break;
        case 3:
          co_await completions::wait{at.opens[0]};
          break;
        case 4:
          co_await completions::wait_until(at.opens[0], then);
          break;
        case 5:
          (void)co_await empty.in.receive();
          break;
        case 6:
          (void)co_await empty.in.receive_until(then);
          break;
        case 7:
          (void)co_await select(empty.in, other.in);
          break;
        case 8:
          (void)co_await full.to.send(1);
          break;
        default:
          (void)co_await send(full_by_id.owner(), 1);
      }
    } catch (cancelled const& e) {
      if (e.what() ==
          std::string_view("weft: cancelled, because the tasks that wait for this are cancelled"))
        ++heard;
    }
  }
}
/// Runs ordinary code until the other process has had all its cancellations: meanwhile no other
/// process can find that all others wait, and wake them.
task is_at_work(std::atomic<bool>& begun, std::atomic<unsigned> const& heard) {
  begun = true;
  while (heard != 10) std::this_thread::yield();
  co_return;
}

BACKENDS_TEST_CASE(
    "a process that is about to wait when its group was cancelled does not wait, at any place", "",
    on_sharing<2>, on_sharing<4>, on_stealing<2>, on_stealing<3>) {
  for (int round = 0; round != rounds(50); ++round) {
    every_frame_dies const check;
    places at;
    std::atomic<bool> one_begun = false, other_begun = false;
    std::atomic<unsigned> heard = 0;
    run_on(chosen, [&]() -> task {
      co_await with_scope([&](auto& s) -> task {
        s.start(is_at_work, std::ref(one_begun), std::cref(heard));
        s.start(hears_it_everywhere, std::ref(at), std::ref(other_begun), std::ref(heard));
        while (!one_begun || !other_begun) co_await proc::yield{};
        s.cancel();
      });
    });
    CHECK(heard == 10);
  }
}
