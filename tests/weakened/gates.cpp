// SPDX-License-Identifier: MIT

/// Gates, external events, alarms, mailboxes and permits, with one order weakened, which the
/// argument selects.  ThreadSanitizer must report a race for each, and none for 0, which weakens no
/// order.  For weaken.py:

// weakens 1 in sched/sync/external_event.hpp to relaxed: word_.load(std::memory_order_acquire) == opened
// weakens 2 in sched/sync/external_event.cpp to acquire: word_.exchange(opened, std::memory_order_acq_rel
// weakens 3 in sched/sync/external_event.cpp to release: word_.exchange(opened, std::memory_order_acq_rel
// weakens 4 in sched/sync/detail/wait_room.cpp to relaxed: found, word(), std::memory_order_release
// weakens 5 in sched/sync/detail/wait_room.cpp to relaxed:
//    std::memory_order_release, std::memory_order_acquire
// weakens 6 in sched/sync/gate.hpp to relaxed: epoch_.load(std::memory_order_acquire
// weakens 7 in sched/sync/gate.cpp to acquire: epoch_.fetch_add(1, std::memory_order_seq_cst
// weakens 8 in sched/sync/detail/wait_room.hpp to relaxed: wait_place::nobody, std::memory_order_release
// weakens 9 in sched/sync/detail/wait_place.hpp to relaxed: word_.load(std::memory_order_acquire
// weakens 10 in sched/sync/detail/wait_room.hpp to relaxed: w.home_.store(nullptr, std::memory_order_release
// weakens 11 in sched/sync/detail/wait_place.hpp to relaxed: home_.load(std::memory_order_acquire
// weakens 12 in sched/sync/detail/wait_room.cpp to relaxed:
//    for (relax wait; w.home_.load(std::memory_order_acquire
// weakens 13 in sched/sync/detail/timers.cpp to relaxed:
//    gone.home_.store(nullptr, std::memory_order_release
// weakens 14 in sched/sync/detail/timers.hpp to relaxed: home_.load(std::memory_order_acquire
// weakens 15 in sched/mail/detail/mailbox.hpp to relaxed:
//    locked_.exchange(true, std::memory_order_acquire
// weakens 16 in sched/mail/detail/mailbox.hpp to relaxed: locked_.store(false, std::memory_order_release
// weakens 17 in sched/sync/detail/permits.cpp to relaxed: n, n - 1, std::memory_order_acquire
// weakens 18 in sched/sync/detail/permits.cpp to relaxed: left_.fetch_add(n, std::memory_order_release
// weakens 19 in sched/sync/detail/waiter.hpp to relaxed: state::gone, std::memory_order_acquire
// weakens 20 in sched/sync/detail/waiter.hpp to relaxed: state::asked, std::memory_order_acquire
// weakens 21 in sched/sync/detail/waiter.hpp to relaxed:
//    is.store(state::waiting, std::memory_order_release
// weakens 22 in sched/mail/detail/mailbox_queue.hpp to relaxed: return *ends_.load(std::memory_order_acquire
// weakens 23 in sched/mail/detail/typed_mailbox.hpp to relaxed:
//    ends_.store(made, std::memory_order_release
// weakens 24 in sched/mail/detail/mailbox_queue.hpp to relaxed: e.end.load(std::memory_order_acquire
// weakens 25 in sched/mail/detail/typed_mailbox.hpp to relaxed:
//    e.end.store(i + 1, std::memory_order_release
// weakens 26 in sched/mail/detail/mailbox_queue.hpp to relaxed: begin.store(now, std::memory_order_release
// weakens 27 in sched/mail/detail/mailbox_queue.hpp to acquire: begin.exchange(now, std::memory_order_seq_cst
// weakens 28 in sched/mail/detail/mailbox_queue.hpp to relaxed: e.begin.load(std::memory_order_seq_cst
// weakens 29 in sched/sync/detail/wait_room.cpp to relaxed:
//    found, wait_place::nobody, std::memory_order_release

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "tests/support/queue_threads.hpp"
#include "tests/support/thunks.hpp"
#include "tests/weakened/weakened.hpp"
#include "weft/effects/detail/internal.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/base/detail/relax.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/mail/detail/mailbox.hpp"
#include "weft/sched/mail/detail/mailbox_registry.hpp"
#include "weft/sched/mail/detail/typed_mailbox.hpp"
#include "weft/sched/sync/detail/group_tree.hpp"
#include "weft/sched/sync/detail/permits.hpp"
#include "weft/sched/sync/detail/timers.hpp"
#include "weft/sched/sync/detail/wait_place.hpp"
#include "weft/sched/sync/detail/wait_room.hpp"
#include "weft/sched/sync/detail/waiter.hpp"
#include "weft/sched/sync/external_event.hpp"
#include "weft/sched/sync/gate.hpp"

namespace {

using namespace weft;
using tests::on_threads;

/// A moment that a thread waits for.  It orders nothing.
class moment {
 public:
  void comes() noexcept { has_come_.store(true, std::memory_order_relaxed); }
  void wait() const noexcept {
    for (detail::relax wait; !has_come_.load(std::memory_order_relaxed);) wait();
  }

 private:
  std::atomic<bool> has_come_ = false;
};

/// Lets other threads run, as far as possible.
void let_others_come() noexcept {
  for (int i = 0; i != 300; ++i) std::this_thread::yield();
}

/// Drops the processes that become ready.
class room final : public detail::ready_sink {
 public:
  detail::wait_room gates{*this, {.locks = true}};
  detail::wait_room external{*this, {.locks = true, .is_open_to_others = true}};
  detail::timers alarms{*this, true};

  /// Keeps its lock during a put from outside, until that event is open.
  void keeps_lock_until(external_event& g) noexcept { until_ = &g; }
  moment is_locked;

 private:
  void make_ready(thunk) noexcept override {}
  void put_from_outside(thunk& t) override {
    is_locked.comes();
    if (until_) {
      for (detail::relax wait; !until_->is_open();) wait();
      let_others_come();
    }
    (void)thunk(std::move(t));
  }
  void put_from_outside(thunk& t, detail::spare_node) override { put_from_outside(t); }
  detail::spare_node reserve_put() override { return {}; }

  external_event* until_ = nullptr;
};

/// No process is to be cancelled.
constexpr auto nobody = [](process const&) noexcept { return false; };

/// A process that is never run waits there.
bool enters(detail::wait_room& r, detail::room_waiter& w) {
  w.parked.hold(*tests::numbered(0).release());
  return r.enter(w, nobody, [] { return false; }) == detail::wait_entry::waits;
}

/// A thread that finds the event open sees the writes before the opening.
int finds_it_open() {
  external_event g;
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

/// The same, of a thread that is about to wait.
int finds_it_open_at_the_last_moment() {
  external_event g;
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
      detail::room_waiter w(&g);
      open.wait();
      if (!enters(here.external, w)) {
        seen = done;
        (void)thunk(w.parked.take());
      }
    }
  });
  return seen != 1;
}

/// The thread that opens the event finds the process, and its scheduler.
void opens_it() {
  external_event g;
  moment waits;
  std::optional<room> there;
  std::optional<detail::room_waiter> w;
  on_threads(2, [&](unsigned me) {
    if (me == 0) {
      there.emplace();
      w.emplace(&g);
      (void)enters(there->external, *w);
      waits.comes();
    } else {
      waits.wait();
      g.open();
    }
  });
}

/// A thread that finds that the gate was woken sees the writes before the wake-up.
template <class Wake>
int finds_it_woken(Wake wake) {
  room here;
  gate g;
  int done = 0;
  int seen = 0;
  on_threads(2, [&](unsigned me) {
    if (me == 0) {
      done = 1;
      wake(here, g);
    } else {
      for (detail::relax wait; g.epoch() == 0;) wait();
      seen = done;
    }
  });
  return seen != 1;
}

/// A thread destroys `what` when it was just taken off a list, or the last waiter off its own.
template <class What, class TakeOff>
void ends(What* what, TakeOff take_off) {
  moment is_off;
  on_threads(2, [&](unsigned me) {
    if (me == 0) {
      take_off(*what);
      is_off.comes();
    } else {
      is_off.wait();
      delete what;
    }
  });
}
void woken(room& here, detail::room_waiter& w) {
  (void)enters(here.gates, w);
  here.gates.wake(*w.at, 1, false);
}
void cancelled(room& here, detail::room_waiter& w) {
  (void)enters(here.external, w);
  here.external.close();
}
void gates_end() {
  room here;
  ends(new gate(), [&](gate& g) {
    detail::room_waiter w(&g);
    woken(here, w);
  });
  ends(new external_event(), [&](external_event& g) {
    detail::room_waiter w(&g);
    cancelled(here, w);
  });
}
void waits_end() {
  room here;
  gate g;
  external_event outside;
  ends(new detail::room_waiter(&g), [&](detail::room_waiter& w) { woken(here, w); });
  ends(new detail::room_waiter(&outside), [&](detail::room_waiter& w) { cancelled(here, w); });
}

/// The wait ends, for another reason, while a thread opens the event: the opener should get the
/// lock after the thread that ends the wait.  Most likely both wait for the lock in that order.
void wait_ends_as_it_is_opened() {
  room here;
  external_event g;
  external_event other;
  detail::room_waiter keeps_lock(&other);
  auto* const w = new detail::room_waiter(&g);
  (void)enters(here.external, keeps_lock);
  (void)enters(here.external, *w);
  here.keeps_lock_until(g);
  moment ends;
  on_threads(3, [&](unsigned me) {
    if (me == 0) {
      other.open();
    } else if (me == 1) {
      here.is_locked.wait();
      ends.comes();
      delete w;
    } else {
      ends.wait();
      let_others_come();
      g.open();
    }
  });
}

void alarms_end() {
  room here;
  detail::waiter who;
  ends(new detail::alarm(instant(), who), [&](detail::alarm& a) {
    bool is_next = false;
    (void)here.alarms.set(a, is_next, nobody);
    (void)here.alarms.take_any();
  });
}

/// The thread that takes a process may change it: a thread that looked at it for a report has read
/// it by then.
template <class Take>
void asks_and_takes(Take take) {
  detail::waiter who;
  who.hold(*tests::numbered(0).release());
  moment asked;
  on_threads(2, [&](unsigned me) {
    if (me == 0) {
      who.look([](process const& p) noexcept {
        void* volatile const leaf = p.leaf().address();
        (void)leaf;
      });
      asked.comes();
    } else {
      asked.wait();
      (void)thunk(take(who));
    }
  });
}

/// Two threads send, and one receives.  The senders are never many messages ahead, so cells are used
/// again; they read how far the receiver is without an order of their own.
int sends_and_receives(std::size_t capacity) {
  static constexpr int messages = 100;
  room here;
  auto* const office = new detail::mailbox_registry(here, true);
  auto* const box = new detail::typed_mailbox<int>(*office, capacity);
  int sum = 0;
  std::atomic<int> received = 0;
  on_threads(3, [&](unsigned me) {
    if (me != 0) {
      detail::mailbox::woken_receiver nobody{};
      for (int m = static_cast<int>(me); m <= messages; m += 2) {
        for (detail::relax wait; m > received.load(std::memory_order_relaxed) + 4;) wait();
        for (detail::relax wait;
             box->send<true>(&m, false, nobody) != detail::mailbox::send_outcome::stored;)
          wait();
      }
    } else {
      process* nobody = nullptr;
      for (int i = 0; i != messages; received.store(++i, std::memory_order_relaxed)) {
        int m = 0;
        detail::select_case at{box, &m, nullptr};
        for (detail::relax wait;
             box->receive<true>(at, nobody) != detail::mailbox::receive_outcome::received;)
          wait();
        sum += m;
      }
    }
  });
  box->close();
  office->close();
  return sum != messages * (messages + 1) / 2;
}

/// A thread that takes a permit sees the writes before its release.
int gives_back_and_takes() {
  detail::permits one(0, detail::permits::kind::semaphore);
  int done = 0;
  int seen = 0;
  on_threads(2, [&](unsigned me) {
    if (me == 0) {
      done = 1;
      one.give_back(1);
    } else {
      for (detail::relax wait; !one.try_take();) wait();
      seen = done;
    }
  });
  return seen != 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) tests::weakened_order = std::atoi(argv[1]);
  int wrong = 0;
  for (int round = 0; round != 10; ++round) {
    wrong += finds_it_open();
    wrong += finds_it_open_at_the_last_moment();
    opens_it();
    wrong += finds_it_woken([](room& here, gate& g) { g.wake(detail::internal(), here.gates, 1); });
    wrong += finds_it_woken([](room&, gate& g) { g.release(); });
    wrong += finds_it_woken([](room&, gate& g) { g.release_all(); });
    gates_end();
    waits_end();
    wait_ends_as_it_is_opened();
    alarms_end();
    asks_and_takes([](detail::waiter& w) { return w.take(); });
    asks_and_takes([](detail::waiter& w) {
      w.look([](process const&) noexcept {});
      return w.take();
    });
    wrong += sends_and_receives(4);
    wrong += sends_and_receives(std::numeric_limits<std::size_t>::max());
    wrong += gives_back_and_takes();
  }
  return wrong;
}
