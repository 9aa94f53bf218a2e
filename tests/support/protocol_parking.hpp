// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <utility>

#include "tests/support/protocol_idle.hpp"
#include "tests/support/protocol_queue.hpp"
#include "weft/effects/effects.hpp"

/// A process that waits and is woken at any moment of the wait, and a thread that sleeps until the
/// process is ready, as a weft program; see protocol_queue.hpp.
///
/// One thread lets go of the process, and is then stuck; a second one wakes the process; the third
/// one has no work, and can run it.
namespace weft::tests::protocol {

struct parking_defects {
  bool no_flag = false;         ///< the waker does not check whether the process still runs
  bool flag_unseen = false;     ///< the process's thread does not check whether it was woken
  bool put_by_both = false;     ///< the waker that sets the flag puts the process as well
  bool announces_late = false;  ///< an idle thread looks, and then says that it is idle
  bool publishes_late = false;  ///< a publisher looks for idle threads first
};

struct parking {
  explicit parking(parking_defects put_in) : d(put_in) {}
  enum class life { ready, running, flagged, blocked };

  parking_defects d;
  life is = life::running;
  bool is_held = true;   // by its thread, which accesses it
  bool is_here = false;  // at the gate, where it can be found
  bool is_open = false;
  int queued = 0;  // how often it is in a queue
  int runs = 0;    // after the wake-up
  idle_list idle;
  idler sleeper;
};

inline does<> publish(parking& w) {
  if (!w.d.publishes_late) ++w.queued;
  if (!w.d.publishes_late) co_await proc::yield{};
  idler* const t = co_await pop({}, w.idle);
  co_await proc::yield{};
  if (w.d.publishes_late) ++w.queued;
  if (t) co_await notify(*t);
}
inline does<> lets_go(parking& w) {
  bool const waits = !w.is_open;  // under the gate's lock
  w.is_here = waits;
  co_await proc::yield{};
  w.is_held = false;
  bool const is_told = !waits || (w.is == parking::life::flagged && !w.d.flag_unseen);
  w.is = is_told ? parking::life::ready : parking::life::blocked;
  if (!is_told) co_return;
  co_await proc::yield{};
  co_await publish(w);
}
inline does<> opens(parking& w) {
  w.is_open = true;
  bool const is_ours = std::exchange(w.is_here, false);
  if (!is_ours) co_return;
  co_await proc::yield{};
  bool const is_running = w.is == parking::life::running && !w.d.no_flag;
  w.is = is_running ? parking::life::flagged : parking::life::ready;
  if (is_running && !w.d.put_by_both) co_return;
  co_await proc::yield{};
  co_await publish(w);
}
/// Waits until the process is queued, and runs it.
inline does<> parks(parking& w) {
  while (w.queued == 0) {
    co_await proc::yield{};
    co_await push({}, w.idle, w.sleeper);
    co_await proc::yield{};
    if (w.queued == 0 || w.d.announces_late) {
      while (!w.sleeper.notified) co_await syncing::wait{w.sleeper.woken};
      w.sleeper.notified = false;
    }
    withdraw(w.idle, w.sleeper);
    co_await proc::yield{};
  }
  --w.queued;
  if (w.is_held) throw goes_wrong("a process runs on two threads");
  if (w.is != parking::life::ready) throw goes_wrong("a process runs and is not ready");
  ++w.runs;
}
inline eff<void, spawning<proc, syncing>> wakes_and_parks(parking& w) {
  co_await spawn(lets_go, std::ref(w));
  co_await spawn(opens, std::ref(w));
  co_await spawn(parks, std::ref(w));
}

/// The process ran once, and is in no queue.
inline void ran_once(parking const& w) {
  if (w.queued != 0) throw goes_wrong("a process is put twice");
  if (w.runs != 1) throw goes_wrong("a process does not run");
  if (places_of(w.sleeper, w.idle) != 0) throw goes_wrong("a thread that is awake is on the list");
}

}  // namespace weft::tests::protocol
