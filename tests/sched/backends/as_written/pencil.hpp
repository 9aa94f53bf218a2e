// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

/// The seeds' work-sharing scheduler as it is written, in C++.  It is wrong on purpose, nobody may
/// use it: it is here so that tests can show how it fails.  What is right is in sched/.
///
///   DEFECT-1  process::change_state: spins on From = Yielding, where it never comes with that, and not
///   on
///       S = Yielding; and its exit test is the wrong way round
///   DEFECT-2  thread::try_dequeue_entry, with H = P: takes Sentinel.Next for the new head, lets others
///   in
///       early, and puts P back at the end
///   DEFECT-3  the same, in seed 001: changes the state of H, not of P
///   DEFECT-4  scheduler::run_thread: the inner loop has no exit
///   DEFECT-5  scheduler::dequeue_from_thread: Null means "mine is empty" as well as "there is nothing"
///   DEFECT-6  scheduler::try_enqueue_on_idle_thread: forgets the thread whose queue was locked
///   DEFECT-7  idle_threads: a thread may be pushed twice, and pop reads, then swaps
///   DEFECT-8  scheduler::run_thread: looks at its own queue only, before it says that it is idle;
///       scheduler::enqueue_on_any_thread: looks for idle threads only before it has published
///   DEFECT-9  scheduler::execute: a hand-off gives back the target, as often as there is one
///
/// Line by line, with the seeds' words in snake_case; `C`, `Prev`, `next`, `Lock <- False` and
/// `Process = 0` are read as `P`, `Previous`, `Next`, `Locked <- False` and `Processes = 0`.
/// DEFECT-1 hides DEFECT-2 and DEFECT-3: while it is there, nothing that is queued can be taken by name.  So it can
/// be mended by itself.
namespace weft::tests::as_written {

struct invariant_broken : std::logic_error {
  using std::logic_error::logic_error;
};
inline void invariant(bool holds, char const* what) {
  if (!holds) throw invariant_broken(what);
}
/// What a null is not followed by.
template <class T>
T& at(T* p, char const* what) {
  if (!p) throw invariant_broken(std::string("null is followed: ") + what);
  return *p;
}

/// Between two lines, each of which one thread does by itself, the pencil may do what other threads
/// do there, or throw.  So each test is one thread, and always the same.
struct pencil {
  std::function<void(std::string_view)> moves;
  void operator()(std::string_view line) const {
    if (moves) moves(line);
  }
};

/// A lock with a condition, for one thread that plays several: it says when a thread would wait for
/// ever in place of doing it.
class monitor {
 public:
  explicit monitor(pencil const& p) : between_(p) {}

  void lock() {
    invariant(!locked_, "the test runs who has to wait for a lock");
    locked_ = true;
  }
  void unlock() { locked_ = false; }
  /// The others have their turn in the meantime.
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
