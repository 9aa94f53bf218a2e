// SPDX-License-Identifier: MIT
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "weft/io/socket.hpp"

namespace weft::detail {

/// An endpoint in the system's form: 28 bytes, IPv4 or IPv6.
class socket_address {
 public:
  socket_address() noexcept : as_{.v6 = {}} {}
  /// Throws std::invalid_argument if the address is not valid.
  explicit socket_address(endpoint const& e);

  [[nodiscard]] endpoint to_endpoint() const;

  // ---- for system calls

  [[nodiscard]] int family() const noexcept { return as_.any.sa_family; }
  [[nodiscard]] sockaddr const* get() const noexcept { return &as_.any; }
  [[nodiscard]] socklen_t size() const noexcept { return size_; }
  /// The places of the address and its size, for a system call that writes both.
  [[nodiscard]] sockaddr* out() noexcept { return &as_.any; }
  [[nodiscard]] socklen_t* size_out() noexcept {
    size_ = sizeof(as_);
    return &size_;
  }

 private:
  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } as_;
  socklen_t size_ = 0;
};

}  // namespace weft::detail
