// SPDX-License-Identifier: MIT
#pragma once

#include <thread>

#include "weft/io/detail/descriptor.hpp"
#include "weft/io/socket.hpp"
#include "weft/sched/base/detail/system_process.hpp"

namespace weft::detail {

class socket_table;

/// The thread of a reactor: waits, by epoll, for events on all sockets, and reports them to their
/// places (socket_place.hpp, SOCKET-3 to SOCKET-5).  The destructor ends it.
///
/// After a batch of events the thread yields the processor.  Without that, if no processor is idle,
/// each message would interrupt the process that answers the previous one, and a third of the time
/// would be spent on context switches (docs/decisions/013-reactor.md).
class event_thread {
 public:
  /// Starts the thread.  Throws std::system_error if too many files are open, or no thread can be
  /// started.
  explicit event_thread(socket_table& t);
  event_thread(event_thread const&) = delete;
  event_thread& operator=(event_thread const&) = delete;
  ~event_thread();

  /// Throws std::logic_error if the calling process is a forked child of the one that made this.
  void require_here() const { home_.require("a reactor"); }
  [[nodiscard]] bool is_here() const noexcept { return home_.is_here(); }
  /// Reports events of `fd` from now on, until it is closed.  On false, errno says why.
  [[nodiscard]] bool add(int fd, socket_id s) noexcept;

 private:
  void run() noexcept;

  socket_table& table_;
  descriptor epoll_;
  descriptor end_;  // an eventfd: a write to it ends the thread
  std::thread thread_;
  system_process home_;
};

}  // namespace weft::detail
