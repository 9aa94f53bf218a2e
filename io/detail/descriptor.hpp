// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <string>
#include <utility>

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
  ~descriptor();

  [[nodiscard]] explicit operator bool() const noexcept { return fd_ != none; }
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, none); }

 private:
  static constexpr int none = -1;
  int fd_;
};

/// Throws io_error; `why` is a value of errno.
[[noreturn, gnu::cold]] void throw_io_error(int why, std::string const& what);

/// Repeats the system call `call` as long as signals interrupt it; returns its result.
template <class Call>
auto uninterrupted(Call call) noexcept {
  for (;;) {
    auto const answer = call();
    if (answer >= 0 || errno != EINTR) return answer;
  }
}

}  // namespace weft::detail
