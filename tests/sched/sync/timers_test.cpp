// SPDX-License-Identifier: MIT
#include "weft/sched/sync/detail/timers.hpp"

#include "tests/prelude.hpp"
#include "weft/sched/base/detail/ready_sink.hpp"

/// Timers without a scheduler: processes that become ready are kept.
class clock_alone final : public weft::detail::ready_sink, public weft::detail::timers {
 public:
  clock_alone() noexcept : timers(*this, true) {}
  std::vector<thunk> cut_off;

 private:
  void make_ready(thunk t) noexcept override { cut_off.push_back(std::move(t)); }
  void put_from_outside(thunk& t) override { make_ready(std::move(t)); }
  void put_from_outside(thunk& t, weft::detail::spare_node) override { make_ready(std::move(t)); }
  weft::detail::spare_node reserve_put() override { return {}; }
};

/// A sleeping process that no scheduler runs.
struct sleeper {
  sleeper(instant t, std::uint64_t number) : is(numbered(number)), until(t, who) {
    is.get()->keep();
    who.hold(*is.get());
  }
  sleeper(sleeper const&) = delete;
  sleeper& operator=(sleeper const&) = delete;
  /// Wakes it by another event.
  bool wakes() {
    process* const p = who.take();
    if (p) (void)thunk(p);
    return p != nullptr;
  }
  thunk is;
  weft::detail::waiter who;
  weft::detail::alarm until;
};

instant at(int n) { return instant(instant::duration(n)); }
/// Refuses no process.
constexpr auto nobody = [](process const&) { return false; };
bool set(weft::detail::timers& t, sleeper& s) {
  bool is_next = false;
  bool const is_set = t.set(s.until, is_next, nobody);
  return is_set && is_next;
}
/// The processes that are due by then, in order.
std::vector<process*> due(weft::detail::timers& t, instant now) {
  std::vector<process*> all;
  while (process* const p = t.take_due(now)) {
    all.push_back(p);
    (void)thunk(p);
  }
  return all;
}

TEST_CASE(
    "alarms are due in the order of their instants, and those of one instant in that of setting") {
  every_frame_dies const check;
  clock_alone c;
  std::vector<std::unique_ptr<sleeper>> all;
  std::vector<process*> expected(40);
  for (int i = 0; i != 40; ++i) {
    int const when = 7 * i % 4;
    all.push_back(std::make_unique<sleeper>(at(when), static_cast<std::uint64_t>(i)));
    (void)set(c, *all.back());
    expected[static_cast<std::size_t>(10 * when + i / 4)] = all.back()->is.get();
  }
  CHECK(due(c, at(3)) == expected);
  CHECK(c.empty());
  CHECK_FALSE(c.has_waiters());
}

TEST_CASE("setting an alarm says whether it is the next one, and next() says when that is") {
  every_frame_dies const check;
  clock_alone c;
  CHECK(c.empty());
  CHECK(c.next() == instant::max());
  sleeper second(at(5), 0);
  sleeper third(at(6), 1);
  sleeper as_second(at(5), 2);
  sleeper first(at(-4), 3);
  CHECK(set(c, second));
  CHECK_FALSE(set(c, third));
  CHECK_FALSE(set(c, as_second));
  CHECK(c.next() == at(5));
  CHECK(set(c, first));
  CHECK(c.next() == at(-4));
  CHECK(due(c, at(-5)).empty());
  CHECK(due(c, at(5)).size() == 3);
  CHECK(c.next() == at(6));
  CHECK(due(c, at(6)).size() == 1);
}

TEST_CASE("a process that sleeps for ever is never due, and can be taken") {
  every_frame_dies const check;
  clock_alone c;
  sleeper for_ever(instant::max(), 0);
  (void)set(c, for_ever);
  CHECK(c.empty());
  CHECK(c.has_waiters());
  CHECK(due(c, instant::max() - instant::duration(1)).empty());
  thunk const t(c.take_any());
  CHECK(t.get() == for_ever.is.get());
  CHECK_FALSE(c.has_waiters());
}

TEST_CASE("an alarm that is destroyed leaves the list, and the others stay") {
  every_frame_dies const check;
  clock_alone c;
  sleeper last(at(9), 0);
  (void)set(c, last);
  {
    sleeper gone(at(3), 1);
    (void)set(c, gone);
    CHECK(gone.wakes());
  }
  CHECK(c.next() == at(9));
  CHECK(c.cut_off.empty());
  CHECK(due(c, at(9)) == std::vector{last.is.get()});
}

TEST_CASE("an alarm that is destroyed while its process waits makes the process ready") {
  every_frame_dies const check;
  clock_alone c;
  {
    sleeper lost(at(3), 1);
    (void)set(c, lost);
  }
  CHECK(c.cut_off.size() == 1);
  CHECK(c.empty());
}

TEST_CASE("a process that was woken by another event is not woken again by its alarm") {
  every_frame_dies const check;
  clock_alone c;
  sleeper woken(at(1), 0);
  sleeper other(at(2), 1);
  (void)set(c, woken);
  (void)set(c, other);
  CHECK(woken.wakes());
  CHECK(due(c, at(2)) == std::vector{other.is.get()});
}

TEST_CASE("closed timers refuse processes that would wait; reopened timers accept them") {
  every_frame_dies const check;
  clock_alone c;
  sleeper before(at(1), 0);
  sleeper after(at(2), 1);
  bool is_next = false;
  CHECK(c.set(before.until, is_next, nobody));
  c.close();
  CHECK_FALSE(c.set(after.until, is_next, nobody));
  CHECK(due(c, at(5)) == std::vector{before.is.get()});
  c.reopen();
  CHECK(c.set(after.until, is_next, nobody));
  CHECK(due(c, at(5)) == std::vector{after.is.get()});
}

TEST_CASE("alarms that are set, taken off and due at random are those of a sorted list") {
  every_frame_dies const check;
  seeds(300).for_each([](unsigned seed) {
    dice random(seed);
    clock_alone c;
    std::vector<std::unique_ptr<sleeper>> all;
    std::multimap<instant, sleeper*> model;  // equal keys are in the order of insertion
    int now = 0;
    bool right = true;
    for (int step = 0; step != 200; ++step) {
      switch (random(4)) {
        case 0:
        case 1: {
          instant const t =
              random(20) == 0 ? instant::max() : at(now + static_cast<int>(random(9)));
          all.push_back(std::make_unique<sleeper>(t, static_cast<std::uint64_t>(step)));
          bool const would_be_next = model.empty() || t < model.begin()->first;
          model.emplace(t, all.back().get());
          right &= set(c, *all.back()) == would_be_next;
          break;
        }
        case 2:
          if (!all.empty()) {  // one continues for another reason
            auto& one = all[random(static_cast<unsigned>(all.size()))];
            std::erase_if(model, [&one](auto const& e) { return e.second == one.get(); });
            (void)one->wakes();
            std::swap(one, all.back());
            all.pop_back();
          }
          break;
        default: {
          now += static_cast<int>(random(3));
          std::vector<process*> expected;
          while (!model.empty() && model.begin()->first <= at(now)) {
            expected.push_back(model.begin()->second->is.get());
            model.erase(model.begin());
          }
          right &= due(c, at(now)) == expected;
        }
      }
      right &= c.next() == (model.empty() ? instant::max() : model.begin()->first);
      right &= c.has_waiters() == !model.empty();
    }
    for (auto& s : all) (void)s->wakes();
    all.clear();
    right &= !c.has_waiters() && c.cut_off.empty();
    if (!right) FAIL("seed " << seed);
  });
}

TEST_CASE("with several threads that set and wake each process is woken once") {
  every_frame_dies const check;
  constexpr int threads = 3;
  int const each = rounds(20'000);
  clock_alone c;
  counter come = 0;
  counter done = 0;
  counter wrong = 0;
  counter by_alarm = 0;
  std::vector<std::thread> all;
  for (int i = 0; i != threads; ++i)
    all.emplace_back([&, i] {
      // The parts of a wait in a frame: destroyed when the process continues, so no other thread
      // may access them then.
      struct waits_again {
        waits_again(instant t, process& q) : until(t, who) {
          q.keep();
          who.hold(q);
        }
        weft::detail::waiter who;
        weft::detail::alarm until;
      };
      dice random(static_cast<unsigned>(i));
      // A process that waits again and again.
      thunk const p = numbered(static_cast<std::uint64_t>(i));
      ++come;
      until([&] { return come == threads; });
      for (int n = 0; n != each; ++n) {
        auto mine = std::make_unique<waits_again>(at(static_cast<int>(random(5))), *p.get());
        bool is_next = false;
        if (!c.set(mine->until, is_next, nobody)) ++wrong;
        if (random(2) == 0) {
          // An alarm is due, perhaps that of this process: this thread wakes its process.
          if (process* const q = c.take_due(at(4))) {
            ++by_alarm;
            (void)thunk(q);
          }
        }
        if (random(8) == 0) std::this_thread::yield();
        // This process is woken by another event; or an alarm has woken it, and it continues at
        // once.
        if (process* const q = mine->who.take()) (void)thunk(q);
      }
      ++done;
    });
  for (auto& t : all) t.join();
  CHECK(done == threads);
  CHECK(wrong == 0);
  CHECK(by_alarm > 0);
  CHECK_FALSE(c.has_waiters());
  CHECK(c.cut_off.empty());
}
