// SPDX-License-Identifier: MIT
#include "weft/sched/sync/detail/external_event_table.hpp"

#include "tests/prelude.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/parts.hpp"
#include "weft/sched/base/detail/injection_node.hpp"
#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/sync/detail/waiter.hpp"
#include "weft/sched/sync/detail/wake_batch.hpp"

using weft::detail::external_home;
using weft::detail::external_waiter;

TEST_CASE("a waiter that has moved before it waits is at the same event") {
  external_event e;
  external_waiter before(e);
  external_waiter const after(std::move(before));
  CHECK(after.at == &e);
}

using weft::detail::external_event_table;
using weft::detail::wait_entry;

/// The external events of a scheduler, without the scheduler.
struct events_alone {
  explicit events_alone(bool several_threads = false) noexcept : table(ready, several_threads) {}
  keeping<> ready;
  external_event_table table;
};
/// A process that is about to wait for an event.
struct visitor {
  explicit visitor(external_event& e) : here(e) {
    is.get()->keep();
    here.parked.hold(*is.get());
    here.spare = std::make_unique<weft::detail::injection_node>();
    node = here.spare.get();
  }
  visitor(visitor const&) = delete;
  visitor& operator=(visitor const&) = delete;
  /// Its alarm wakes the process; or it does not wait, and its count is dropped.
  bool goes_on() {
    process* const p = here.parked.take();
    (void)thunk(p);
    return p != nullptr;
  }
  thunk is = suspended_process();
  weft::detail::injection_node const* node;
  external_waiter here;
};

bool waits(events_alone& s, visitor& v) {
  return s.table.enter(v.here, none_refused) == wait_entry::waits;
}
/// The processes that wait for events, as the table lists them, sorted.
std::vector<process const*> waiting(events_alone const& s) {
  std::vector<process const*> all;
  s.table.for_each_waiter([&all](process const& p) { all.push_back(&p); });
  std::ranges::sort(all);
  return all;
}
template <class... Visitors>
std::vector<process const*> listed(Visitors const&... of) {
  std::vector<process const*> all{of.is.get()...};
  std::ranges::sort(all);
  return all;
}
/// Checks that this process alone has become ready, from outside, in the memory that was made
/// before it waited.
void check_put(events_alone& s, visitor const& v, std::uint64_t answer) {
  auto const ready = s.ready.take();
  REQUIRE(ready.size() == 1);
  CHECK(ready[0].what.get() == v.is.get());
  CHECK(ready[0].what.answer() == answer);
  CHECK(ready[0].from_outside);
  CHECK(ready[0].node == v.node);
}

// ---- entering

TEST_CASE("a process that enters waits until its event is opened, and is put with its own memory") {
  every_frame_dies const check;
  bool const several_threads = GENERATE(false, true);
  events_alone s(several_threads);
  external_event e;
  visitor v(e);
  CHECK_FALSE(s.table.has_waiters());
  CHECK(s.table.enter(v.here, none_refused) == wait_entry::waits);
  CHECK(s.table.has_waiters());
  CHECK(waiting(s) == listed(v));
  CHECK_FALSE(e.is_open());
  // With one thread a canceller finds the place from the process.
  auto const place = v.is.get()->current_wait_place();
  if (several_threads) {
    CHECK(place == process::wait_place::none);
  } else {
    CHECK(place == process::wait_place::external_event);
    CHECK(v.is.get()->wait_object() == &v.here);
  }
  e.open();
  CHECK(e.is_open());
  check_put(s, v, 1);
  CHECK_FALSE(s.table.has_waiters());
  CHECK(waiting(s).empty());
  CHECK_FALSE(v.is.get()->is_shared());
  e.open();  // has no effect
  CHECK(s.ready.take().empty());
}

TEST_CASE("a process does not wait for an event that is open, and keeps its memory") {
  every_frame_dies const check;
  events_alone s;
  external_event e;
  e.open();
  visitor v(e);
  CHECK(s.table.enter(v.here, none_refused) == wait_entry::answered);
  CHECK_FALSE(s.table.has_waiters());
  CHECK(waiting(s).empty());
  CHECK(v.here.spare.get() == v.node);
  CHECK(v.goes_on());
  CHECK(s.ready.take().empty());
}

TEST_CASE("a process that is to end is refused, and its event is free") {
  every_frame_dies const check;
  events_alone s;
  external_event e;
  visitor v(e);
  CHECK(s.table.enter(v.here, only(v.is)) == wait_entry::refused);
  CHECK_FALSE(s.table.has_waiters());
  CHECK(v.goes_on());
  visitor other(e);
  CHECK(s.table.enter(other.here, only(v.is)) == wait_entry::waits);
  e.open();
  check_put(s, other, 1);
}

TEST_CASE("a second process that would wait for an event throws, and the first one waits on") {
  every_frame_dies const check;
  events_alone s;
  events_alone other;
  external_event e;
  visitor v(e);
  visitor late(e);
  CHECK(waits(s, v));
  CHECK_THROWS_AS(s.table.enter(late.here, none_refused), std::logic_error);
  CHECK_THROWS_AS(other.table.enter(late.here, none_refused), std::logic_error);
  CHECK(late.goes_on());
  CHECK(waiting(s) == listed(v));
  CHECK_FALSE(other.table.has_waiters());
  e.open();
  check_put(s, v, 1);
}

TEST_CASE("a closed table refuses every process, until it is reopened") {
  every_frame_dies const check;
  events_alone s;
  external_event e;
  visitor v(e);
  s.table.close();
  CHECK(s.table.enter(v.here, none_refused) == wait_entry::refused);
  CHECK_FALSE(s.table.has_waiters());
  s.table.reopen();
  CHECK(waits(s, v));
  e.open();
  check_put(s, v, 1);
}

// ---- taking

TEST_CASE("a waiter that is taken leaves its event, for which another process may wait then") {
  every_frame_dies const check;
  events_alone s;
  std::array<external_event, 3> at;
  std::deque<visitor> all;
  for (auto& e : at) CHECK(waits(s, all.emplace_back(e)));
  // From the middle, the end and the front.
  for (std::size_t const i : {1U, 2U, 0U}) {
    thunk const t(s.table.take(all[i].here));
    CHECK(t.get() == all[i].is.get());
    CHECK(s.table.take(all[i].here) == nullptr);
  }
  CHECK_FALSE(s.table.has_waiters());
  visitor late(at[1]);
  CHECK(waits(s, late));
  at[1].open();
  check_put(s, late, 1);
}

TEST_CASE("a process that its alarm has woken is due until it goes on, and is not woken again") {
  every_frame_dies const check;
  events_alone s;
  external_event e;
  {
    visitor v(e);
    CHECK(waits(s, v));
    CHECK(v.goes_on());
    CHECK(s.table.take(v.here) == nullptr);
    CHECK(s.table.has_waiters());  // AWAITED-2
    CHECK(waiting(s).empty());
    SECTION("the event is opened before its operation ends") {
      e.open();
      CHECK(e.is_open());
      CHECK_FALSE(s.table.has_waiters());
    }
    SECTION("the event is never opened") {}  // AWAITED-4
    SECTION("the event is opened after its operation has ended") {}
  }
  CHECK_FALSE(s.table.has_waiters());
  e.open();
  CHECK(s.ready.take().empty());
}

TEST_CASE("the processes that are meant are taken, and the others wait on") {
  every_frame_dies const check;
  events_alone s;
  std::array<external_event, 5> at;
  std::deque<visitor> all;
  for (auto& e : at) CHECK(waits(s, all.emplace_back(e)));
  CHECK(all[3].goes_on());
  auto const meant = listed(all[0], all[3], all[4]);
  auto const is_meant = [&meant](process const& p) noexcept {
    return std::ranges::find(meant, &p) != meant.end();
  };
  {
    weft::detail::wake_batch batch;
    CHECK(s.table.take_if(is_meant, batch));
    auto found = release(batch);
    std::ranges::sort(found);
    std::vector<process*> expected{all[0].is.get(), all[4].is.get()};
    std::ranges::sort(expected);
    CHECK(found == expected);
  }
  CHECK(waiting(s) == listed(all[1], all[2]));
  // An event whose process was taken is free.
  at[0].open();
  CHECK(s.ready.take().empty());
  at[1].open();
  check_put(s, all[1], 1);
  at[2].open();
  check_put(s, all[2], 1);
  all.clear();
  CHECK_FALSE(s.table.has_waiters());
}

TEST_CASE(
    "if a batch of those at an event has no room for more, the processes that are left wait on") {
  every_frame_dies const check;
  events_alone s;
  std::array<external_event, 40> at;
  std::deque<visitor> all;
  for (auto& e : at) CHECK(waits(s, all.emplace_back(e)));
  {
    weft::detail::wake_batch batch;
    until_failure = 0;
    bool const were_all = s.table.take_if(every_process, batch);
    until_failure = -1;
    CHECK_FALSE(were_all);
    CHECK(release(batch).size() == 32);
  }
  CHECK(waiting(s).size() == 8);
  {
    weft::detail::wake_batch batch;
    CHECK(s.table.take_if(every_process, batch));
    CHECK(release(batch).size() == 8);
  }
  CHECK_FALSE(s.table.has_waiters());
}

TEST_CASE("closing cancels the processes that wait, and their events stay as they are") {
  every_frame_dies const check;
  events_alone s;
  std::array<external_event, 3> at;
  std::deque<visitor> all;
  for (auto& e : at) CHECK(waits(s, all.emplace_back(e)));
  CHECK(all[1].goes_on());
  s.table.close();
  CHECK_FALSE(s.table.has_waiters());
  {
    auto const ready = s.ready.take();
    CHECK(ready.size() == 2);
    for (auto const& r : ready) {
      CHECK(is_cancelled(*r.what.get()));
      CHECK_FALSE(r.from_outside);
    }
  }
  for (auto& e : at) CHECK_FALSE(e.is_open());
  s.table.close();  // has no effect
  for (auto& e : at) e.open();
  CHECK(s.ready.take().empty());
}

TEST_CASE("a scheduler that ends drops the processes that wait, and no other enters") {
  every_frame_dies const check;
  events_alone s;
  std::array<external_event, 3> at;
  std::deque<visitor> all;
  for (auto& e : at) CHECK(waits(s, all.emplace_back(e)));
  CHECK(all[1].goes_on());
  s.table.drop_all();
  CHECK_FALSE(s.table.has_waiters());
  CHECK(s.ready.take().empty());
  for (auto const& v : all) CHECK_FALSE(v.is.get()->is_shared());
  visitor late(at[0]);
  CHECK(s.table.enter(late.here, none_refused) == wait_entry::refused);
  CHECK(late.goes_on());
}

// ---- events and waiters that end

TEST_CASE("an event that ends answers its process with a cancellation") {
  every_frame_dies const check;
  events_alone s;
  std::optional<external_event> e(std::in_place);
  external_event other;
  visitor v(*e);
  visitor elsewhere(other);
  CHECK(waits(s, v));
  CHECK(waits(s, elsewhere));
  SECTION("on any thread") {
    e.reset();
    check_put(s, v, 0);
  }
  SECTION("on a thread of the scheduler, if nothing can be put from outside") {
    s.ready.fail_puts(1);
    e.reset();
    auto const ready = s.ready.take();
    REQUIRE(ready.size() == 1);
    CHECK(ready[0].what.get() == v.is.get());
    CHECK_FALSE(ready[0].from_outside);
  }
  CHECK(is_failed(*v.is.get()));
  CHECK(waiting(s) == listed(elsewhere));
  other.open();
  check_put(s, elsewhere, 1);
}

TEST_CASE("an event that ends when its process has gone on tells its table nothing") {
  every_frame_dies const check;
  std::optional<external_event> e(std::in_place);
  SECTION("as the process was taken by its alarm, and has not left yet") {
    events_alone s;
    visitor v(*e);
    CHECK(waits(s, v));
    CHECK(v.goes_on());
    e.reset();
    CHECK_FALSE(s.table.has_waiters());
    CHECK(s.ready.take().empty());
    CHECK_FALSE(is_failed(*v.is.get()));
  }
  SECTION("as it was opened, and the table is no more") {
    {
      events_alone s;
      visitor v(*e);
      CHECK(waits(s, v));
      e->open();
      check_put(s, v, 1);
    }
    e.reset();
  }
}

TEST_CASE("a waiter that ends while its process waits frees the event, and the process is ready") {
  every_frame_dies const check;
  events_alone s;
  external_event e;
  auto cut_off = std::make_unique<visitor>(e);
  thunk const is = cut_off->is;
  CHECK(waits(s, *cut_off));
  cut_off.reset();
  CHECK_FALSE(s.table.has_waiters());
  {
    auto const ready = s.ready.take();
    REQUIRE(ready.size() == 1);
    CHECK(ready[0].what.get() == is.get());
    CHECK(ready[0].what.answer() == 0);
    CHECK_FALSE(ready[0].from_outside);
  }
  visitor next(e);
  CHECK(waits(s, next));
  e.open();
  check_put(s, next, 1);
}

// ---- puts that fail

TEST_CASE("a put from outside that throws leaves the event closed, and its process waits on") {
  every_frame_dies const check;
  bool const several_threads = GENERATE(false, true);
  events_alone s(several_threads);
  external_event e;
  visitor v(e);
  CHECK(waits(s, v));
  for (int i = 0; i != 2; ++i) {
    s.ready.fail_puts(1);
    CHECK_THROWS_AS(e.open(), std::bad_alloc);
    CHECK_FALSE(e.is_open());
    CHECK(s.table.has_waiters());
    CHECK(waiting(s) == listed(v));
    if (!several_threads)
      CHECK(v.is.get()->current_wait_place() == process::wait_place::external_event);
  }
  SECTION("until the event is opened again") {
    e.open();
    CHECK(e.is_open());
    auto const ready = s.ready.take();
    REQUIRE(ready.size() == 1);
    CHECK(ready[0].what.answer() == 1);
    CHECK(ready[0].node == nullptr);  // a backend that throws reserves none
  }
  SECTION("until it is taken") { CHECK(thunk(s.table.take(v.here)).get() == v.is.get()); }
  SECTION("until the table is closed") {
    s.table.close();
    CHECK(s.ready.take().size() == 1);
  }
  CHECK_FALSE(s.table.has_waiters());
}

// ---- what an explorer sees

TEST_CASE("an explorer sees each wait for an event, and each opening, as a write") {
  every_frame_dies const check;
  events_alone s;
  external_event e;
  visitor v(e);
  visitor opened(e);
  accesses seen;
  using all = std::vector<accesses::access>;
  CHECK(waits(s, v));
  CHECK(seen.take() == all{{&e, true}});
  weft::detail::wake_batch none;
  CHECK(s.table.take_if(none_refused, none));
  CHECK(seen.take().empty());
  weft::detail::wake_batch batch;
  CHECK(s.table.take_if(every_process, batch));
  CHECK(seen.take() == all{{&e, true}});
  CHECK(release(batch) == std::vector{v.is.get()});
  CHECK(waits(s, opened));
  e.open();
  CHECK(seen.take() == all{{&e, true}, {&e, true}});
  CHECK(e.is_open());
  CHECK(seen.take() == all{{&e, false}});
  CHECK(s.ready.take().size() == 1);
}

// ---- threads

TEST_CASE("no process is woken while the table is held") {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    events_alone s(true);
    external_event e;
    visitor v(e);
    CHECK(waits(s, v));
    std::atomic<bool> begun = false;
    std::thread outside;
    {
      auto const held = s.table.hold();
      outside = std::thread([&] {
        begun = true;
        e.open();
      });
      until([&] { return begun && e.is_open(); });
      CHECK(s.ready.take().empty());
      CHECK(s.table.has_waiters());  // AWAITED-2
      // Its waiter is no more to be seen: a thread has opened the event (EXTERNAL-1).
      CHECK(waiting(s).empty());
      // Nor does another party take the event off the list.
      weft::detail::wake_batch batch;
      CHECK(s.table.take_if(every_process, batch));
      CHECK(release(batch).empty());
      s.table.close();
      CHECK(s.ready.take().empty());
    }
    until([&] { return !s.table.has_waiters(); });
    check_put(s, v, 1);
    outside.join();
  }
}

TEST_CASE(
    "a waiter whose process was taken while a thread opens its event stays until that is over") {
  for (int round = 0; round != rounds(200); ++round) {
    every_frame_dies const check;
    events_alone s(true);
    external_event e;
    auto v = std::make_unique<visitor>(e);
    CHECK(waits(s, *v));
    std::atomic<bool> is_taken = false;
    std::thread outside;
    {
      auto held = s.table.hold();
      outside = std::thread([&] { e.open(); });
      until([&] { return e.is_open(); });
      if (round % 2 == 0) {
        is_taken = v->goes_on();
      } else {
        thunk const t(s.table.take(v->here));
        is_taken = t.get() == v->is.get();
      }
    }
    CHECK(is_taken);
    v.reset();  // AWAITED-4
    CHECK_FALSE(s.table.has_waiters());
    outside.join();
    CHECK(s.ready.take().empty());
  }
}

TEST_CASE("a scheduler that ends waits for a thread that has just opened an event") {
  for (int round = 0; round != rounds(200); ++round) {
    every_frame_dies const check;
    events_alone s(true);
    std::array<external_event, 2> at;
    std::deque<visitor> all;
    for (auto& e : at) CHECK(waits(s, all.emplace_back(e)));
    std::thread outside([&] { at[round % 2 == 0].open(); });
    s.table.drop_all();
    CHECK_FALSE(s.table.has_waiters());
    outside.join();
    // The process was put, or dropped.
    auto const ready = s.ready.take();
    CHECK(ready.size() <= 1);
    if (!ready.empty()) CHECK(ready[0].what.get() == all[round % 2 == 0].is.get());
  }
}

TEST_CASE(
    "with several threads each process goes on once, by its event, its alarm or a canceller") {
  every_frame_dies const check;
  constexpr std::size_t events = 2'000;
  static_assert(events % 2 == 0);
  auto const n = static_cast<std::size_t>(rounds(static_cast<int>(events)));
  events_alone s(true);
  std::vector<external_event> at(n);
  counter waited = 0, answered = 0, taken_here = 0, taken_by_batch = 0, wrong = 0;
  std::atomic<std::size_t> next = 0;  // the event that is waited for now
  std::atomic<bool> is_over = false;
  std::thread opens([&] {
    for (std::size_t i = 0; i != n; ++i) {
      if (i % 2 == 0) until([&] { return next >= i; });
      at[i].open();
    }
  });
  std::thread cancels([&] {
    while (!is_over) {
      weft::detail::wake_batch batch;
      if (!s.table.take_if(every_process, batch)) ++wrong;
      batch.for_each([&](process& p) {
        ++taken_by_batch;
        (void)thunk(&p);
      });
      (void)s.table.has_waiters();
      std::this_thread::yield();
    }
  });
  int put = 0;
  for (std::size_t i = 0; i != n; ++i) {
    auto v = std::make_unique<visitor>(at[i]);
    auto const how = s.table.enter(v->here, none_refused);
    next = i;
    if (how == wait_entry::waits) {
      ++waited;
      if (i % 3 == 0) {
        if (v->goes_on()) ++taken_here;
      } else if (i % 3 == 1) {
        thunk const t(s.table.take(v->here));
        if (t) ++taken_here;
      } else {
        until([&] { return !v->is.get()->is_shared() || !v->here.parked.is_waiting(); });
      }
    } else {
      ++answered;
      if (how != wait_entry::answered || !v->goes_on()) ++wrong;
    }
    v.reset();
    put += static_cast<int>(s.ready.take().size());
  }
  opens.join();
  is_over = true;
  cancels.join();
  put += static_cast<int>(s.ready.take().size());
  CHECK(wrong == 0);
  CHECK(waited + answered == static_cast<int>(n));
  CHECK(put + taken_here + taken_by_batch == waited);
  CHECK_FALSE(s.table.has_waiters());
  for (auto const& e : at) CHECK(e.is_open());
}

/// A backend without memory.
class without_memory final : public keeping<> {
  void put_from_outside(thunk&, detail::spare_node) override { throw std::bad_alloc(); }
};

TEST_CASE("a process whose put fails while the table is closed is cancelled") {
  every_frame_dies const check;
  without_memory ready;
  external_event_table table(ready, true);
  external_event e;
  thunk const is = suspended_process();
  external_waiter here(e);
  is.get()->keep();
  here.parked.hold(*is.get());
  REQUIRE(table.enter(here, none_refused) == wait_entry::waits);
  std::atomic<bool> has_thrown = false;
  std::thread outside;
  {
    auto const held = table.hold();
    outside = std::thread([&] {
      try {
        e.open();
      } catch (std::bad_alloc const&) {
        has_thrown = true;
      }
    });
    until([&] { return e.is_open(); });
    table.close();
  }
  outside.join();
  CHECK(has_thrown);
  CHECK_FALSE(table.has_waiters());
  CHECK(ready.take().size() == 1);
  table.drop_all();
}
