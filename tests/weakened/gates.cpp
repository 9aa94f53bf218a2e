// SPDX-License-Identifier: MIT

/// Gates of either kind, with one order weakened, chosen by the argument.  ThreadSanitizer must
/// object to each; 0, with none, must pass.  For weaken.py:

// weakens 1 in sched/outside_gate.hpp to relaxed: word_.load(std::memory_order_acquire) == opened
// weakens 2 in sched/detail/waiting_room.hpp to acquire:
//    word_.exchange(opened, std::memory_order_acq_rel
// weakens 3 in sched/detail/waiting_room.hpp to release:
//    word_.exchange(opened, std::memory_order_acq_rel
// weakens 4 in sched/outside_gate.hpp to relaxed: word_of(p), std::memory_order_release
// weakens 5 in sched/outside_gate.hpp to relaxed:
//    std::memory_order_release, std::memory_order_acquire
// weakens 6 in sched/gate.hpp to relaxed: epoch_.load(std::memory_order_acquire
// weakens 7 in sched/detail/waiting_room.hpp to relaxed:
//    epoch_.fetch_add(1, std::memory_order_release
// weakens 8 in sched/detail/waiting_room.hpp to relaxed:
//    home_.store(nullptr, std::memory_order_release
// weakens 9 in sched/detail/waiting_room.hpp to relaxed:
//    ::~gate() { // [6] acquire: with [5].
//    if (auto* const home = home_.load(std::memory_order_acquire
// weakens 10 in sched/detail/waiting_room.hpp to relaxed:
//    ::~outside_gate() { if (auto* const home = home_.load(std::memory_order_acquire

#include <atomic>
#include <cstdlib>
#include <optional>
#include <utility>

#include "sched/detail/relax.hpp"
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
  room() noexcept : waiting_room(true) {}
  using waiting_room::close_outside;

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
      thunk const t = tests::numbered(0);
      open.wait();
      if (!here.enter(g, *t.get())) seen = done;
    }
  });
  return seen != 1;
}

/// Who opens it finds the process, and its scheduler.
void opens_it() {
  outside_gate g;
  moment waits;
  std::optional<room> there;
  on_threads(2, [&](unsigned me) {
    if (me == 0) {
      there.emplace();
      (void)there->enter(g, *tests::numbered(0).release());
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

/// Somebody ends it when the last one has just been taken out.
template <class Gate, class TakeOut>
void ends(TakeOut take_out) {
  moment empty;
  auto* const g = new Gate();
  on_threads(2, [&](unsigned me) {
    if (me == 0) {
      take_out(*g);
      empty.comes();
    } else {
      empty.wait();
      delete g;
    }
  });
}
void ends_woken() {
  room here;
  ends<gate>([&](gate& g) {
    (void)here.enter(g, std::nullopt, *tests::numbered(0).release());
    here.wake(g, 1);
  });
}
void ends_cancelled() {
  room here;
  ends<outside_gate>([&](outside_gate& g) {
    (void)here.enter(g, *tests::numbered(0).release());
    here.close_outside();
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
    ends_woken();
    ends_cancelled();
  }
  return wrong;
}
