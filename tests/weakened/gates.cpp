// SPDX-License-Identifier: MIT

/// Gates of either kind, and alarms, with one order weakened, chosen by the argument.
/// ThreadSanitizer must object to each; 0, with none, must pass.  For weaken.py:

// weakens 1 in sched/outside_gate.hpp to relaxed: word_.load(std::memory_order_acquire) == opened
// weakens 2 in sched/detail/waiting_room.hpp to acquire:
//    word_.exchange(opened, std::memory_order_acq_rel
// weakens 3 in sched/detail/waiting_room.hpp to release:
//    word_.exchange(opened, std::memory_order_acq_rel
// weakens 4 in sched/outside_gate.hpp to relaxed: word_of(w), std::memory_order_release
// weakens 5 in sched/outside_gate.hpp to relaxed:
//    std::memory_order_release, std::memory_order_acquire
// weakens 6 in sched/gate.hpp to relaxed: epoch_.load(std::memory_order_acquire
// weakens 7 in sched/detail/gate_room.hpp to relaxed:
//    epoch_.fetch_add(1, std::memory_order_release
// weakens 8 in sched/detail/gate_room.hpp to relaxed:
//    g.home_.store(nullptr, std::memory_order_release
// weakens 9 in sched/detail/gate_room.hpp to relaxed:
//    ::~gate() { // [6] acquire: with [5].
//    if (auto* const home = home_.load(std::memory_order_acquire
// weakens 10 in sched/detail/waiting_room.hpp to relaxed:
//    ::~outside_gate() { if (auto* const home = home_.load(std::memory_order_acquire
// weakens 11 in sched/detail/gate_room.hpp to relaxed:
//    who.home_.store(nullptr, std::memory_order_release
// weakens 12 in sched/detail/gate_room.hpp to relaxed:
//    ::~at_gate() { // [10] acquire: with [9].
//    if (auto* const home = home_.load(std::memory_order_acquire
// weakens 13 in sched/detail/waiting_room.hpp to relaxed:
//    w.home_.store(nullptr, std::memory_order_release
// weakens 14 in sched/detail/waiting_room.hpp to relaxed:
//    ::~at_outside_gate() { // [12] acquire: with [11] of waiting_room.hpp.
//    if (auto* const home = home_.load(std::memory_order_acquire
// weakens 15 in sched/detail/timers.hpp to relaxed:
//    gone.home_.store(nullptr, std::memory_order_release
// weakens 16 in sched/detail/timers.hpp to relaxed:
//    ::~alarm() { // [2] acquire: with [1].
//    if (timers* const home = home_.load(std::memory_order_acquire

#include <atomic>
#include <cstdlib>
#include <optional>
#include <type_traits>
#include <utility>

#include "sched/detail/relax.hpp"
#include "sched/detail/timers.hpp"
#include "sched/detail/waiting_room.hpp"
#include "sched/gate.hpp"
#include "sched/outside_gate.hpp"
#include "sched/process.hpp"
#include "sched/thunk.hpp"
#include "tests/support/queue_threads.hpp"
#include "tests/support/thunks.hpp"
#include "tests/weakened/weakened.hpp"

namespace {

using namespace weft;
using tests::on_threads;

/// Says when, and nothing else: it puts nothing in an order.
class moment {
 public:
  void comes() noexcept { has_come_.store(true, std::memory_order_relaxed); }
  void wait() const noexcept {
    for (detail::relax wait; !has_come_.load(std::memory_order_relaxed);) wait();
  }

 private:
  std::atomic<bool> has_come_ = false;
};

/// Whoever may go on is dropped.
class room final : public detail::waiting_room {
 public:
  room() noexcept : waiting_room(true, 1) {}
  using waiting_room::close_outside;
  using waiting_room::timers_;

 private:
  void make_ready(thunk) noexcept override {}
  void put_from_outside(thunk& t) override { (void)thunk(std::move(t)); }
};

/// Who finds that it is open sees what was done before.
int finds_it_open() {
  outside_gate g;
  int done = 0;
  int seen = 0;
  on_threads(2, [&](unsigned me) {
    if (me == 0) {
      done = 1;
      g.open();
    } else {
      for (detail::relax wait; !g.is_open();) wait();
      seen = done;
    }
  });
  return seen != 1;
}

/// The same, of who is about to wait.
int finds_it_open_at_the_last_moment() {
  outside_gate g;
  moment open;
  int done = 0;
  int seen = 0;
  on_threads(2, [&](unsigned me) {
    if (me == 0) {
      done = 1;
      g.open();
      open.comes();
    } else {
      room here;
      detail::at_outside_gate w(g);
      open.wait();
      if (!here.enter(w)) seen = done;
    }
  });
  return seen != 1;
}

/// Who opens it finds the process, and its scheduler.
void opens_it() {
  outside_gate g;
  moment waits;
  std::optional<room> there;
  std::optional<detail::at_outside_gate> w;
  on_threads(2, [&](unsigned me) {
    if (me == 0) {
      there.emplace();
      w.emplace(g);
      w->who.waits(*tests::numbered(0).release());
      (void)there->enter(*w);
      waits.comes();
    } else {
      waits.wait();
      g.open();
    }
  });
}

/// Who finds that it was woken since sees what was done before.
int finds_it_woken() {
  room here;
  gate g;
  int done = 0;
  int seen = 0;
  on_threads(2, [&](unsigned me) {
    if (me == 0) {
      done = 1;
      here.wake(g, 1);
    } else {
      for (detail::relax wait; g.epoch() == 0;) wait();
      seen = done;
    }
  });
  return seen != 1;
}

/// Somebody ends it when it has just been taken off its list.
template <class Thing, class TakeOff, class... Args>
void ends(TakeOff take_off, Args&... args) {
  moment is_off;
  auto* const it = new Thing(args...);
  on_threads(2, [&](unsigned me) {
    if (me == 0) {
      take_off(*it);
      is_off.comes();
    } else {
      is_off.wait();
      delete it;
    }
  });
}
/// What waits there.
template <class At>
void waits_at(room& here, At& w) {
  w.who.waits(*tests::numbered(0).release());
  if constexpr (std::is_same_v<At, detail::at_gate>)
    (void)here.enter(w, std::nullopt);
  else
    (void)here.enter(w);
}
void gate_ends() {
  room here;
  ends<gate>([&](gate& g) {
    detail::at_gate w(g);
    waits_at(here, w);
    here.wake(g, 1);
  });
}
void outside_gate_ends() {
  room here;
  ends<outside_gate>([&](outside_gate& g) {
    detail::at_outside_gate w(g);
    waits_at(here, w);
    here.close_outside();
  });
}
void who_was_woken_ends() {
  room here;
  gate g;
  ends<detail::at_gate>(
      [&](detail::at_gate& w) {
        waits_at(here, w);
        here.wake(g, 1);
      },
      g);
}
void who_came_through_ends() {
  room here;
  outside_gate g;
  ends<detail::at_outside_gate>(
      [&](detail::at_outside_gate& w) {
        waits_at(here, w);
        g.open();
      },
      g);
}
void alarm_ends() {
  struct waits_for_a_time {
    detail::waiter who;
    detail::alarm until{instant(), who};
  };
  room here;
  ends<waits_for_a_time>([&](waits_for_a_time& w) {
    bool is_next = false;
    w.who.waits(*tests::numbered(0).release());
    (void)here.timers_.set(w.until, is_next);
    (void)thunk(here.timers_.take_any());
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) tests::weakened_order = std::atoi(argv[1]);
  int wrong = 0;
  for (int round = 0; round != 10; ++round) {
    wrong += finds_it_open();
    wrong += finds_it_open_at_the_last_moment();
    opens_it();
    wrong += finds_it_woken();
    gate_ends();
    outside_gate_ends();
    who_was_woken_ends();
    who_came_through_ends();
    alarm_ends();
  }
  return wrong;
}
