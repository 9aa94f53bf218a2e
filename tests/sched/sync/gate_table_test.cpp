// SPDX-License-Identifier: MIT
#include "weft/sched/sync/detail/gate_table.hpp"

#include "tests/prelude.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/parts.hpp"
#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/sync/detail/waiter.hpp"
#include "weft/sched/sync/detail/wake_batch.hpp"

using weft::detail::gate_waiter;

TEST_CASE("a waiter that has moved before it waits is at the same gate") {
  every_frame_dies const check;
  gate g;
  gate_waiter before(g, false, true);
  gate_waiter const after(std::move(before));
  CHECK(after.at == &g);
  CHECK_FALSE(after.is_in_line);
  CHECK(after.is_timed);
}

using weft::detail::gate_table;
using weft::detail::wait_entry;

/// The gates of a scheduler, without the scheduler.
struct gates_alone {
  explicit gates_alone(bool several_threads = false, unsigned wakes = 1) noexcept
      : table(ready, several_threads, wakes) {}
  keeping<> ready;
  gate_table table;
};
/// A process that is about to wait at a gate.
struct visitor {
  explicit visitor(gate& g, bool in_line = true) : here(g, in_line, false) {
    is.get()->keep();
    here.parked.hold(*is.get());
  }
  visitor(visitor const&) = delete;
  visitor& operator=(visitor const&) = delete;
  /// The process goes on for another reason; or it does not wait, and its count is dropped.
  bool goes_on() {
    process* const p = here.parked.take();
    (void)thunk(p);
    return p != nullptr;
  }
  thunk is = suspended_process();
  gate_waiter here;
};

bool waits(gates_alone& s, visitor& v) {
  return s.table.enter(v.here, {}, none_refused) == wait_entry::waits;
}
/// The processes that wait at the gates, as the table lists them.
std::vector<process const*> waiting(gates_alone const& s) {
  std::vector<process const*> all;
  s.table.for_each_waiter([&all](process const& p, gate const*) { all.push_back(&p); });
  return all;
}
template <class... Visitors>
std::vector<process*> processes(Visitors const&... of) {
  return {of.is.get()...};
}

/// The processes that have become ready, each with the answer 1.
std::vector<process*> woken(keeping<>& ready) {
  std::vector<process*> all;
  for (auto const& e : ready.take()) {
    CHECK(e.what.answer() == 1);
    CHECK_FALSE(e.from_outside);
    all.push_back(e.what.get());
  }
  return all;
}

// ---- entering

TEST_CASE("a process that enters a gate waits there until it is woken, and the table lists it") {
  every_frame_dies const check;
  bool const several_threads = GENERATE(false, true);
  gates_alone s(several_threads);
  gate g;
  visitor v(g);
  CHECK_FALSE(s.table.has_waiters());
  CHECK(s.table.enter(v.here, {}, none_refused) == wait_entry::waits);
  CHECK(s.table.has_waiters());
  CHECK(g.waiting() == 1);
  s.table.for_each_waiter([&](process const& p, gate const* at) {
    CHECK(&p == v.is.get());
    CHECK(at == &g);
  });
  // With one thread a canceller finds the place from the process.
  auto const place = v.is.get()->current_wait_place();
  if (several_threads) {
    CHECK(place == process::wait_place::none);
  } else {
    CHECK(place == process::wait_place::gate);
    CHECK(v.is.get()->wait_object() == &v.here);
  }
  s.table.wake(g, 1);
  CHECK(woken(s.ready) == processes(v));
  CHECK(v.is.get()->current_wait_place() == process::wait_place::none);
  CHECK_FALSE(s.table.has_waiters());
  CHECK(g.waiting() == 0);
  CHECK(waiting(s).empty());
  CHECK_FALSE(v.is.get()->is_shared());
}

TEST_CASE("a process that is to end is refused at its gate, and the gate stays as it was") {
  every_frame_dies const check;
  gates_alone s;
  gate g;
  visitor v(g);
  CHECK(s.table.enter(v.here, {}, only(v.is)) == wait_entry::refused);
  CHECK(s.table.enter(v.here, g.epoch() + 1, only(v.is)) == wait_entry::refused);
  CHECK_FALSE(s.table.has_waiters());
  CHECK(g.waiting() == 0);
  CHECK(v.goes_on());
  // Another process is not.
  visitor other(g);
  CHECK(s.table.enter(other.here, {}, only(v.is)) == wait_entry::waits);
  s.table.wake(g, 1);
  CHECK(woken(s.ready) == processes(other));
}

template <class... Visitors>
std::vector<process const*> listed(Visitors const&... of) {
  return {of.is.get()...};
}

TEST_CASE("a process waits if the gate was not woken since its epoch, and is answered otherwise") {
  every_frame_dies const check;
  gates_alone s;
  gate g;
  visitor first(g);
  visitor second(g);
  visitor third(g);
  auto const seen = g.epoch();
  CHECK(s.table.enter(first.here, seen, none_refused) == wait_entry::waits);
  s.table.wake(g, 0);  // wakes no process, and counts
  CHECK(g.epoch() == seen + 1);
  CHECK(s.table.enter(second.here, seen, none_refused) == wait_entry::answered);
  CHECK(second.goes_on());
  CHECK(listed(first) == waiting(s));  // the gate with a waiter stays on the list
  g.release();
  CHECK(g.epoch() == seen + 2);
  CHECK(woken(s.ready) == processes(first));
  CHECK(s.table.enter(third.here, seen + 1, none_refused) == wait_entry::answered);
  CHECK(third.goes_on());
  // A gate without waiters is on no list (GATE-2): the release is seen by its number alone.
  CHECK_FALSE(s.table.has_waiters());
  CHECK(g.waiting() == 0);
}

TEST_CASE("processes of two schedulers wait at one gate one after the other, and not together") {
  every_frame_dies const check;
  gates_alone ours;
  gates_alone other;
  gate g;
  visitor v(g);
  visitor late(g);
  CHECK(waits(ours, v));
  CHECK_THROWS_AS(other.table.enter(late.here, {}, none_refused), std::logic_error);
  CHECK_THROWS_AS(other.table.wake(g, 1), std::logic_error);
  CHECK_FALSE(other.table.has_waiters());
  CHECK(g.epoch() == 0);
  ours.table.wake(g, 1);
  CHECK(woken(ours.ready) == processes(v));
  // GATE-2: without waiters the gate is of no scheduler.
  CHECK(waits(other, late));
  CHECK_THROWS_AS(ours.table.wake(g, 1), std::logic_error);
  g.release();
  CHECK(woken(other.ready) == processes(late));
  CHECK(woken(ours.ready).empty());
}

// ---- waking

TEST_CASE("a wake takes so many of the longest waiting processes") {
  every_frame_dies const check;
  gates_alone s;
  gate g;
  std::deque<visitor> all;
  for (int i = 0; i != 5; ++i) CHECK(waits(s, all.emplace_back(g)));
  s.table.wake(g, 1);
  CHECK(woken(s.ready) == processes(all[0]));
  s.table.wake(g, 2);
  CHECK(woken(s.ready) == processes(all[1], all[2]));
  CHECK(g.waiting() == 2);
  s.table.wake(g, 0);
  CHECK(woken(s.ready).empty());
  s.table.wake(g, 100);
  CHECK(woken(s.ready) == processes(all[3], all[4]));
  s.table.wake(g, 1);
  CHECK(woken(s.ready).empty());
  CHECK(g.epoch() == 5);
}

TEST_CASE("a wake passes over processes that other parties have taken, and does not count them") {
  every_frame_dies const check;
  gates_alone s;
  gate g;
  std::deque<visitor> all;
  for (int i = 0; i != 5; ++i) CHECK(waits(s, all.emplace_back(g)));
  CHECK(all[0].goes_on());
  CHECK(all[2].goes_on());
  CHECK(all[4].goes_on());
  CHECK(waiting(s) == listed(all[1], all[3]));
  s.table.wake(g, 2);
  CHECK(woken(s.ready) == processes(all[1], all[3]));
  CHECK(g.waiting() == 1);  // the last one leaves by itself (WAITER-2)
  all.pop_back();
  CHECK(g.waiting() == 0);
  CHECK_FALSE(s.table.has_waiters());
  CHECK(woken(s.ready).empty());
}

TEST_CASE("the release of a gate wakes the longest waiting process, and that of all every one") {
  every_frame_dies const check;
  gates_alone s;
  gate g;
  std::deque<visitor> all;
  for (int i = 0; i != 4; ++i) CHECK(waits(s, all.emplace_back(g, i % 2 == 0)));
  CHECK(all[0].goes_on());
  g.release();
  CHECK(woken(s.ready) == processes(all[1]));
  g.release_all();
  CHECK(woken(s.ready) == processes(all[2], all[3]));
  g.release();
  g.release_all();
  CHECK(woken(s.ready).empty());
  CHECK(g.epoch() == 4);
}

TEST_CASE("where schedules are explored a release wakes each process that could be first") {
  every_frame_dies const check;
  gates_alone s(false, 2);
  gate g;
  std::deque<visitor> all;
  SECTION("the first one in line, and all that are not in line") {
    for (bool const in_line : {true, false, true, false})
      CHECK(waits(s, all.emplace_back(g, in_line)));
    g.release();
    CHECK(woken(s.ready) == processes(all[0], all[1], all[3]));
    CHECK(waiting(s) == listed(all[2]));
    g.release();
    CHECK(woken(s.ready) == processes(all[2]));
  }
  SECTION("those that are not in line, if one of them came first") {
    for (bool const in_line : {false, true, false}) CHECK(waits(s, all.emplace_back(g, in_line)));
    g.release();
    CHECK(woken(s.ready) == processes(all[0], all[2]));
    g.release();
    CHECK(woken(s.ready) == processes(all[1]));
  }
  SECTION("of those in line the first that no other party has taken") {
    for (int i = 0; i != 3; ++i) CHECK(waits(s, all.emplace_back(g)));
    CHECK(all[0].goes_on());
    g.release();
    CHECK(woken(s.ready) == processes(all[1]));
    g.release_all();
    CHECK(woken(s.ready) == processes(all[2]));
  }
  CHECK_FALSE(s.table.has_waiters());
}

using weft::detail::gate_home;

TEST_CASE("a release that comes when the gate has left the list wakes no process") {
  every_frame_dies const check;
  gates_alone s;
  gates_alone other;
  gate g;
  visitor v(g);
  // A thread that has seen the home before calls it when the home has gone.
  gate_home& home = s.table;
  home.on_release(g, false);
  CHECK(waits(other, v));
  home.on_release(g, true);
  CHECK(woken(s.ready).empty());
  CHECK(waiting(other) == listed(v));
  other.table.wake(g, 1);
  CHECK(woken(other.ready) == processes(v));
}

// ---- taking

TEST_CASE("a waiter that is taken leaves its gate, and can be taken once") {
  every_frame_dies const check;
  gates_alone s;
  gate g;
  std::deque<visitor> all;
  for (int i = 0; i != 3; ++i) CHECK(waits(s, all.emplace_back(g)));
  // From the middle, the end and the front.
  for (std::size_t const i : {1U, 2U, 0U}) {
    thunk const t(s.table.take(all[i].here));
    CHECK(t.get() == all[i].is.get());
  }
  CHECK_FALSE(s.table.has_waiters());
  CHECK(g.waiting() == 0);
  // A waiter that another party has taken leaves its gate without its process.
  visitor late(g);
  CHECK(waits(s, late));
  CHECK(late.goes_on());
  CHECK(s.table.take(late.here) == nullptr);
  CHECK_FALSE(s.table.has_waiters());
  CHECK(woken(s.ready).empty());
}

TEST_CASE("the processes that are meant are taken at all gates, and the others wait on in order") {
  every_frame_dies const check;
  gates_alone s;
  std::array<gate, 3> at;
  std::deque<visitor> all;
  for (std::size_t i = 0; i != 9; ++i) CHECK(waits(s, all.emplace_back(at[i % 3])));
  // All at the first gate, one at the second, none at the third; one has gone on before.
  CHECK(all[3].goes_on());
  std::vector<process const*> const meant = listed(all[0], all[3], all[6], all[4]);
  auto const is_meant = [&meant](process const& p) noexcept {
    return std::ranges::find(meant, &p) != meant.end();
  };
  {
    weft::detail::wake_batch batch;
    CHECK(s.table.take_if(is_meant, batch));
    auto found = release(batch);
    std::ranges::sort(found);
    auto expected = processes(all[0], all[6], all[4]);
    std::ranges::sort(expected);
    CHECK(found == expected);
  }
  CHECK(at[0].waiting() == 1);  // the one that has gone on
  CHECK(at[1].waiting() == 2);
  CHECK(at[2].waiting() == 3);
  for (auto& g : at) s.table.wake(g, 9);
  CHECK(woken(s.ready) == processes(all[1], all[7], all[2], all[5], all[8]));
  CHECK_FALSE(s.table.has_waiters());
}

TEST_CASE(
    "if a batch of those at a gate has no room for more, the processes that are left wait on") {
  every_frame_dies const check;
  gates_alone s;
  gate g;
  std::deque<visitor> all;
  for (int i = 0; i != 40; ++i) CHECK(waits(s, all.emplace_back(g)));
  {
    weft::detail::wake_batch batch;
    until_failure = 0;
    bool const were_all = s.table.take_if(every_process, batch);
    until_failure = -1;
    CHECK_FALSE(were_all);
    CHECK(release(batch).size() == 32);
  }
  CHECK(g.waiting() == 8);
  {
    weft::detail::wake_batch batch;
    CHECK(s.table.take_if(every_process, batch));
    CHECK(release(batch).size() == 8);
  }
  CHECK_FALSE(s.table.has_waiters());
}

TEST_CASE("a cancellation of all makes each process ready without an answer that would be lost") {
  every_frame_dies const check;
  gates_alone s;
  std::array<gate, 2> at;
  std::deque<visitor> all;
  for (std::size_t i = 0; i != 4; ++i) CHECK(waits(s, all.emplace_back(at[i % 2])));
  CHECK(all[1].goes_on());
  s.table.cancel_all();
  CHECK_FALSE(s.table.has_waiters());
  CHECK(at[0].waiting() + at[1].waiting() == 0);
  auto const ready = s.ready.take();
  CHECK(ready.size() == 3);
  for (auto const& e : ready) {
    CHECK(is_cancelled(*e.what.get()));
    CHECK_FALSE(e.from_outside);
  }
  s.table.cancel_all();  // has no effect
  CHECK(s.ready.take().empty());
}

TEST_CASE("a scheduler that ends drops all processes that wait at its gates") {
  every_frame_dies const check;
  gates_alone s;
  std::array<gate, 2> at;
  std::deque<visitor> all;
  for (std::size_t i = 0; i != 4; ++i) CHECK(waits(s, all.emplace_back(at[i % 2])));
  CHECK(all[1].goes_on());
  s.table.drop_all();
  CHECK_FALSE(s.table.has_waiters());
  CHECK(s.ready.take().empty());
  for (auto const& v : all) CHECK_FALSE(v.is.get()->is_shared());
}

// ---- gates and waiters that end

TEST_CASE("a gate that ends answers its waiters with a cancellation") {
  every_frame_dies const check;
  gates_alone s(GENERATE(false, true));
  std::optional<gate> g(std::in_place);
  gate other;
  visitor first(*g);
  visitor gone(*g);
  visitor second(*g);
  visitor elsewhere(other);
  for (auto* const v : {&first, &gone, &second, &elsewhere}) CHECK(waits(s, *v));
  CHECK(gone.goes_on());
  g.reset();
  CHECK(woken(s.ready) == processes(first, second));
  CHECK(is_failed(*first.is.get()));
  CHECK(is_failed(*second.is.get()));
  CHECK_FALSE(is_failed(*gone.is.get()));
  CHECK(waiting(s) == listed(elsewhere));
  s.table.drop_all();
}

TEST_CASE("a gate that ends without waiters tells its last home nothing") {
  every_frame_dies const check;
  std::optional<gate> g(std::in_place);
  {
    gates_alone s;
    visitor v(*g);
    CHECK(waits(s, v));
    s.table.wake(*g, 1);
    CHECK(woken(s.ready) == processes(v));
  }
  g.reset();  // its home is no more
}

TEST_CASE("a waiter that ends while its process waits leaves the gate, and the process is ready") {
  every_frame_dies const check;
  gates_alone s;
  gate g;
  visitor before(g);
  auto cut_off = std::make_unique<visitor>(g);
  visitor after(g);
  thunk const is = cut_off->is;
  for (auto* const v : {&before, cut_off.get(), &after}) CHECK(waits(s, *v));
  cut_off.reset();
  auto const ready = s.ready.take();
  REQUIRE(ready.size() == 1);
  CHECK(ready[0].what.get() == is.get());
  CHECK(ready[0].what.answer() == 0);
  CHECK(waiting(s) == listed(before, after));
  CHECK(g.waiting() == 2);
  g.release_all();
  CHECK(woken(s.ready) == processes(before, after));
}

TEST_CASE("a waiter that ends after its process was taken by another party leaves the gate alone") {
  every_frame_dies const check;
  gates_alone s;
  gate g;
  {
    visitor v(g);
    CHECK(waits(s, v));
    CHECK(v.goes_on());
    CHECK(s.table.has_waiters());
  }
  CHECK_FALSE(s.table.has_waiters());
  CHECK(s.ready.take().empty());
  // A waiter whose home has gone off the list in the meantime finds nothing to do.
  visitor v(g);
  static_cast<gate_home&>(s.table).on_end(v.here);
  CHECK(v.goes_on());
  CHECK(s.ready.take().empty());
}

// ---- what an explorer sees

TEST_CASE("an explorer sees a wait in line and a wake as writes, and another wait as a read") {
  every_frame_dies const check;
  gates_alone s;
  gate g;
  visitor in_line(g);
  visitor beside(g, false);
  accesses seen;
  using all = std::vector<accesses::access>;
  CHECK(waits(s, in_line));
  CHECK(seen.take() == all{{&g, true}});
  CHECK(waits(s, beside));
  CHECK(seen.take() == all{{&g, false}});
  (void)thunk(s.table.take(beside.here));
  CHECK(seen.take() == all{{&g, true}});
  s.table.wake(g, 0);
  CHECK(seen.take() == all{{&g, true}});
  weft::detail::wake_batch none;
  CHECK(s.table.take_if(none_refused, none));
  CHECK(seen.take().empty());
  weft::detail::wake_batch batch;
  CHECK(s.table.take_if(every_process, batch));
  CHECK(seen.take() == all{{&g, true}});
  CHECK(release(batch) == processes(in_line));
}

// ---- threads

/// Wakes a thread for each process that becomes ready.
class signalling final : public weft::detail::ready_sink {
 public:
  explicit signalling(std::size_t n) : flags_(n), processes_(n) {}
  void add(std::size_t i, process const* p) noexcept { processes_[i] = p; }
  /// Whether that process has become ready since it was asked last.
  bool take(std::size_t i) noexcept { return flags_[i].exchange(0) != 0; }
  [[nodiscard]] int wrong() const noexcept { return wrong_; }

 private:
  void make_ready(thunk t) noexcept override {
    for (std::size_t i = 0; i != processes_.size(); ++i)
      if (processes_[i] == t.get() && flags_[i].exchange(1) != 0) ++wrong_;  // ready twice
  }
  void put_from_outside(thunk& t) override { make_ready(std::move(t)); }
  void put_from_outside(thunk& t, weft::detail::spare_node) override { make_ready(std::move(t)); }
  weft::detail::spare_node reserve_put() override { return {}; }

  std::vector<std::atomic<int>> flags_;
  std::vector<process const*> processes_;  // written before the threads begin
  counter wrong_ = 0;
};

TEST_CASE(
    "with several threads each process that waits is made ready once, and none misses a wake") {
  every_frame_dies const check;
  constexpr std::size_t threads = 3;
  int const each = rounds(10'000);
  signalling ready(threads);
  gate_table table(ready, true, 1);
  std::array<gate, 2> at;
  std::vector<thunk> is;
  for (std::size_t i = 0; i != threads; ++i) {
    is.push_back(suspended_process());
    ready.add(i, is[i].get());
  }
  counter wrong = 0, left = threads, waited = 0, not_waited = 0;
  std::vector<std::thread> all;
  for (std::size_t i = 0; i != threads; ++i)
    all.emplace_back([&, i] {
      dice random(static_cast<unsigned>(i));
      for (int n = 0; n != each; ++n) {
        gate& g = at[random(2)];
        auto const seen = g.epoch();
        // The operation of one wait: destroyed when the process goes on.
        auto here = std::make_unique<gate_waiter>(g, random(2) == 0, false);
        is[i].get()->keep();
        here->parked.hold(*is[i].get());
        if (table.enter(*here, seen, none_refused) == wait_entry::waits) {
          ++waited;
          // A process of another thread may have been the last one to wake this one, so this thread
          // does its share of waking while it waits.
          until([&] {
            if (ready.take(i)) return true;
            switch (random(5)) {
              case 0:
                table.wake(at[random(2)], 1 + random(2));
                break;
              case 1:
                at[random(2)].release();
                break;
              case 2:
                at[random(2)].release_all();
                break;
              case 3: {
                weft::detail::wake_batch batch;
                (void)table.take_if(only(is[random(threads)]), batch);
                batch.for_each([&ready](process& p) {
                  static_cast<weft::detail::ready_sink&>(ready).make_ready(thunk(&p));
                });
                break;
              }
              default:
                if (process* const p = table.take(*here)) {
                  (void)thunk(p);
                  return true;
                }
                until([&] { return ready.take(i); });  // another party has taken it
                return true;
            }
            return false;
          });
        } else {
          ++not_waited;
          if (process* const p = here->parked.take()) (void)thunk(p);
        }
        here.reset();
        if (ready.take(i)) ++wrong;  // it does not wait any more
      }
      --left;
    });
  for (auto& t : all) t.join();
  CHECK(wrong == 0);
  CHECK(ready.wrong() == 0);
  CHECK(waited > 0);
  CHECK(left == 0);
  CHECK_FALSE(table.has_waiters());
  CHECK(at[0].waiting() + at[1].waiting() == 0);
  for (auto const& t : is) CHECK_FALSE(t.get()->is_shared());
}
