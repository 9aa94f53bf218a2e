// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <thread>

namespace weft {

/// While this object exists, a signal makes the program write scheduler.dump() to standard error:
///
///     scheduler<> s;
///     dump_on_signal const asked(s, SIGQUIT);
///     s.start(server, ...).run();                  // kill -QUIT, or Ctrl-\, says what waits
///
/// A thread of this object waits for the signal.  Make the object before other threads: the
/// constructor blocks the signal in the calling thread, and threads that are started later inherit
/// that.  A signal has one object at a time.  The scheduler must outlive the object.  Costs a
/// thread.  Allocates the text of a dump.  Throws std::system_error if no thread can be started, or
/// the system is not POSIX.
class dump_on_signal {
 public:
  template <class Scheduler>
  dump_on_signal(Scheduler& s, int signal)
      : dump_on_signal([](void* at) { return static_cast<Scheduler*>(at)->dump(); }, &s, signal) {}
  dump_on_signal(dump_on_signal const&) = delete;
  dump_on_signal& operator=(dump_on_signal const&) = delete;
  /// Ends the thread, and unblocks the signal in the calling thread, unless the signal was blocked
  /// before this object was made.
  ~dump_on_signal();

 private:
  dump_on_signal(std::string (*dump)(void*), void* scheduler, int signal);

  int signal_;
  bool was_blocked_;
  std::jthread waits_;
};

}  // namespace weft
