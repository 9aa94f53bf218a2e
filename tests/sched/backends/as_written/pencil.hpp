// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

/// The work-sharing scheduler of the pseudo-code in docs/appendix_pseudo_code_read_twice.md, as it is
/// written, in C++.  It is wrong on purpose: the tests show how it fails, and nothing else may use
/// it.  The correct scheduler is in sched/.
///
///   DEFECT-1  process::change_state: spins if From = Yielding, which is never true there, and
///       not if S = Yielding; and its exit test is inverted
///   DEFECT-2  thread::try_dequeue_entry, with H = P: takes Sentinel.Next for the new head, opens
///       the queue early, and puts P back at the end
///   DEFECT-3  the same, in version 001: changes the state of H, not of P
///   DEFECT-4  scheduler::run_thread: the inner loop has no exit
///   DEFECT-5  scheduler::dequeue_from_thread: null means "the own queue is empty" as well as
///       "there is nothing"
///   DEFECT-6  scheduler::try_enqueue_on_idle_thread: forgets the thread whose queue was locked
///   DEFECT-7  idle_threads: a thread may be pushed twice, and pop reads, then swaps
///   DEFECT-8  scheduler::run_thread: looks at its own queue only, before it says that it is idle;
///       scheduler::enqueue_on_any_thread: looks for idle threads only before it has published
///   DEFECT-9  scheduler::execute: a hand-off returns the target, without a bound
///
/// The translation is line by line, with the words of the pseudo-code in snake_case.  `C`, `Prev`,
/// `next`, `Lock <- False` and `Process = 0` are read as `P`, `Previous`, `Next`,
/// `Locked <- False` and `Processes = 0`.  DEFECT-1 hides DEFECT-2 and DEFECT-3: with it, no queued
/// process can be taken by name.  So it can be corrected by itself.
namespace weft::tests::as_written {

struct invariant_broken : std::logic_error {
  using std::logic_error::logic_error;
};
inline void invariant(bool holds, char const* what) {
  if (!holds) throw invariant_broken(what);
}
/// Dereferences p; throws if it is null.
template <class T>
T& at(T* p, char const* what) {
  if (!p) throw invariant_broken(std::string("null is followed: ") + what);
  return *p;
}

/// Runs between two lines of the pseudo-code, and may do what other threads do there, or throw.  So
/// each test is one thread, and deterministic.
struct pencil {
  std::function<void(std::string_view)> moves;
  void operator()(std::string_view line) const {
    if (moves) moves(line);
  }
};

/// A lock with a condition, for one thread that plays several: where a thread would wait for ever,
/// it throws instead.
class monitor {
 public:
  explicit monitor(pencil const& p) : between_(p) {}

  void lock() {
    invariant(!locked_, "the test runs who has to wait for a lock");
    locked_ = true;
  }
  void unlock() { locked_ = false; }
  /// The other threads have their turn in the meantime.
  void wait() {
    notified_ = false;
    unlock();
    between_("IdleMonitor.Wait()");
    if (!notified_) throw sleeps_for_ever();
    lock();
  }
  void notify() { notified_ = true; }

  struct sleeps_for_ever {};

 private:
  pencil const& between_;
  bool locked_ = false;
  bool notified_ = false;
};

}  // namespace weft::tests::as_written
