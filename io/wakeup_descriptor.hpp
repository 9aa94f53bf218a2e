// SPDX-License-Identifier: MIT
#pragma once

namespace weft {

/// A file descriptor that is readable when an event loop is to poll a scheduler.  For loops that
/// wait for descriptors, by poll(2), by epoll, or in a graphical toolkit.
///
///     wakeup_descriptor wakeup;
///     s.on_wakeup([&] { wakeup.notify(); });
///     // in the loop, when wakeup.get() is readable:
///     wakeup.clear();
///     s.poll();
///
/// It must outlive the scheduler, unless s.on_wakeup({}) was called.  One eventfd; Linux only.
class wakeup_descriptor {
 public:
  /// Throws std::system_error if the system has no descriptor left.
  wakeup_descriptor();
  wakeup_descriptor(wakeup_descriptor const&) = delete;
  wakeup_descriptor& operator=(wakeup_descriptor const&) = delete;
  /// Closes the descriptor.
  ~wakeup_descriptor();

  /// The descriptor: an event loop waits until it is readable.
  [[nodiscard]] int get() const noexcept { return fd_; }
  /// Makes the descriptor readable.  Thread safe; one system call; allocates nothing.
  void notify() const noexcept;
  /// Makes the descriptor unreadable until the next notify().  One system call.
  void clear() const noexcept;

 private:
  int fd_;
};

}  // namespace weft
