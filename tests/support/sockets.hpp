// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "tests/support/loopback.hpp"
#include "weft/io/socket.hpp"

/// The other side of a connection, by hand; and the open descriptors of this program.
namespace weft::tests {

inline std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}
/// Checks that as many descriptors are open at its end as at its beginning.
class every_descriptor_is_closed {
 public:
  every_descriptor_is_closed() = default;
  every_descriptor_is_closed(every_descriptor_is_closed const&) = delete;
  every_descriptor_is_closed& operator=(every_descriptor_is_closed const&) = delete;
  ~every_descriptor_is_closed() { CHECK(open_descriptors() == before_); }

 private:
  std::ptrdiff_t const before_ = open_descriptors();
};

/// While it lives, at most `n` more descriptors can be opened.
class few_descriptors {
 public:
  explicit few_descriptors(unsigned n) {
    // UndefinedBehaviorSanitizer opens a pipe when it looks at a class for the first time.
    try {
      throw io_error(std::make_error_code(std::errc::too_many_files_open), "be prepared");
    } catch (io_error const& e) {
      (void)e.code();
    }
    try {
      throw std::system_error(std::make_error_code(std::errc::too_many_files_open));
    } catch (std::system_error const& e) {
      (void)e.what();
    }
    ::getrlimit(RLIMIT_NOFILE, &before_);
    // The n-th free descriptor is the last.
    unsigned last = 0;
    for (unsigned free = 0; free <= n; ++last)
      if (::fcntl(static_cast<int>(last), F_GETFD) == -1) ++free;
    rlimit now = before_;
    now.rlim_cur = last - 1;
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  few_descriptors(few_descriptors const&) = delete;
  few_descriptors& operator=(few_descriptors const&) = delete;
  ~few_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

/// A socket of the system.  Its calls block, unless made with SOCK_NONBLOCK.
class raw_socket {
 public:
  explicit raw_socket(int more = 0) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | more, 0)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "socket");
  }
  raw_socket(raw_socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  raw_socket& operator=(raw_socket other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~raw_socket() { close(); }

  /// Whether it is connected, or, if its calls do not block, has begun to connect.
  bool connect(std::uint16_t port) {
    sockaddr_in const to = on_this_machine(port);
    return ::connect(fd_, reinterpret_cast<sockaddr const*>(&to), sizeof to) == 0 ||
           errno == EINPROGRESS;
  }
  /// Binds to an unused port, at which there is no listener unless this socket listens.
  std::uint16_t bind() {
    sockaddr_in at = on_this_machine(0);
    socklen_t size = sizeof at;
    ::bind(fd_, reinterpret_cast<sockaddr const*>(&at), size);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    return ntohs(at.sin_port);
  }
  void listen(int backlog) { ::listen(fd_, backlog); }
  void accept() { ::close(::accept(fd_, nullptr, nullptr)); }

  bool send(std::string_view text, int flags = 0) {
    return ::send(fd_, text.data(), text.size(), flags | MSG_NOSIGNAL) == std::ssize(text);
  }
  /// Receives all bytes until the end, or at most `most`.
  std::string receive(std::size_t most = std::size_t(-1)) {
    std::string all;
    std::array<char, 4096> some;
    while (all.size() != most) {
      auto const n = ::recv(fd_, some.data(), std::min(some.size(), most - all.size()), 0);
      if (n <= 0) break;
      all.append(some.data(), static_cast<std::size_t>(n));
    }
    return all;
  }
  void finish() { ::shutdown(fd_, SHUT_WR); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  /// Closes so that the other side is reset.
  void reset() {
    linger const at_once{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }

 private:
  int fd_;
};

inline raw_socket connected_to(std::uint16_t port) {
  raw_socket s;
  if (!s.connect(port)) throw std::system_error(errno, std::generic_category(), "connect");
  return s;
}

}  // namespace weft::tests
