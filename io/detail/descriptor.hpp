// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "weft/io/socket.hpp"

namespace weft::detail {

/// Owns a file descriptor.
class descriptor {
 public:
  explicit descriptor(int fd = none) noexcept : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(other.release()) {}
  descriptor& operator=(descriptor other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~descriptor() {
    // Ignore the result: an error of close concerns data written to a file, and this is no file.
    if (fd_ != none) ::close(fd_);
  }

  [[nodiscard]] explicit operator bool() const noexcept { return fd_ != none; }
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, none); }

 private:
  static constexpr int none = -1;
  int fd_;
};

[[noreturn, gnu::cold]] inline void throw_io_error(int why, std::string const& what) {
  throw io_error(std::error_code(why, std::generic_category()), what);
}

/// Repeats a system call that a signal has interrupted.
template <class Call>
auto uninterrupted(Call call) noexcept {
  for (;;) {
    auto const answer = call();
    if (answer >= 0 || errno != EINTR) return answer;
  }
}

}  // namespace weft::detail
