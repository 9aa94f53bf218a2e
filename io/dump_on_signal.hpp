// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <thread>

namespace weft {

/// While it exists, a signal makes the program write scheduler.dump() to its standard error:
///
///     scheduler<> s;
///     dump_on_signal const asked(s, SIGQUIT);
///     s.start(server, ...).run();                  // kill -QUIT, or Ctrl-\, says what waits
///
/// A thread of its own waits for the signal.  To be made before other threads: it blocks the signal
/// in the thread that makes it, and threads that are started later inherit that.  One at a time for
/// a signal.  The scheduler must outlive it.  Costs a thread.  Allocates the text of a dump.
/// Throws std::system_error.
class dump_on_signal {
 public:
  template <class Scheduler>
  dump_on_signal(Scheduler& s, int signal)
      : dump_on_signal([](void* at) { return static_cast<Scheduler*>(at)->dump(); }, &s, signal) {}
  dump_on_signal(dump_on_signal const&) = delete;
  dump_on_signal& operator=(dump_on_signal const&) = delete;
  /// Unblocks the signal in this thread, if it was not blocked before.
  ~dump_on_signal();

 private:
  dump_on_signal(std::string (*dump)(void*), void* scheduler, int signal);

  int signal_;
  bool was_blocked_;
  std::jthread waits_;
};

}  // namespace weft
