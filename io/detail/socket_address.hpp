// SPDX-License-Identifier: MIT
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "weft/io/socket.hpp"

namespace weft::detail {

/// An endpoint in the system's form: 28 bytes, IPv4 or IPv6.
class socket_address {
 public:
  socket_address() noexcept : as_{.v6 = {}} {}
  /// Throws std::invalid_argument if the address is not valid.
  explicit socket_address(endpoint const& e) : socket_address() {
    if (::inet_pton(AF_INET, e.address.c_str(), &as_.v4.sin_addr) == 1) {
      as_.v4.sin_family = AF_INET;
      as_.v4.sin_port = htons(e.port);
      size_ = sizeof(as_.v4);
    } else if (::inet_pton(AF_INET6, e.address.c_str(), &as_.v6.sin6_addr) == 1) {
      as_.v6.sin6_family = AF_INET6;
      as_.v6.sin6_port = htons(e.port);
      size_ = sizeof(as_.v6);
    } else {
      throw std::invalid_argument("weft: " + e.address +
                                  " is no address of IPv4 or IPv6, in digits");
    }
  }

  [[nodiscard]] endpoint to_endpoint() const {
    std::array<char, INET6_ADDRSTRLEN> text{};
    bool const is_ipv6 = family() == AF_INET6;
    void const* const from = is_ipv6 ? static_cast<void const*>(&as_.v6.sin6_addr)
                                     : static_cast<void const*>(&as_.v4.sin_addr);
    ::inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, from, text.data(), text.size());
    return {text.data(), ntohs(is_ipv6 ? as_.v6.sin6_port : as_.v4.sin_port)};
  }

  // ---- for system calls

  [[nodiscard]] int family() const noexcept { return as_.any.sa_family; }
  [[nodiscard]] sockaddr const* get() const noexcept { return &as_.any; }
  [[nodiscard]] socklen_t size() const noexcept { return size_; }
  /// For a call that writes the address.
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
