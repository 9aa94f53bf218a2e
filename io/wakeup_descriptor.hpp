// SPDX-License-Identifier: MIT
#pragma once

namespace weft {

/// A descriptor that is readable when a loop is to poll a scheduler: for a loop that waits for
/// descriptors, such as poll(2), epoll or a toolkit's.
///
///     wakeup_descriptor wakeup;
///     s.on_wakeup([&] { wakeup.notify(); });
///     // in the loop, when wakeup.get() is readable:
///     wakeup.clear();
///     s.poll();
///
/// It must outlive the scheduler, or be taken off by s.on_wakeup({}).  One eventfd; Linux only.
class wakeup_descriptor {
 public:
  /// Throws std::system_error if the system has no descriptor left.
  wakeup_descriptor();
  wakeup_descriptor(wakeup_descriptor const&) = delete;
  wakeup_descriptor& operator=(wakeup_descriptor const&) = delete;
  /// Closes the descriptor.
  ~wakeup_descriptor();

  /// The descriptor, to wait until it can be read.
  [[nodiscard]] int get() const noexcept { return fd_; }
  /// Makes it readable.  Thread safe; one system call; allocates nothing.
  void notify() const noexcept;
  /// Makes it not readable, until the next notify().  One system call.
  void clear() const noexcept;

 private:
  int fd_;
};

}  // namespace weft
