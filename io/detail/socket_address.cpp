// SPDX-License-Identifier: MIT
#if defined(__linux__)
#include "weft/io/detail/socket_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <stdexcept>

#include "weft/io/socket.hpp"

namespace weft::detail {

socket_address::socket_address(endpoint const& e) : socket_address() {
  if (::inet_pton(AF_INET, e.address.c_str(), &as_.v4.sin_addr) == 1) {
    as_.v4.sin_family = AF_INET;
    as_.v4.sin_port = htons(e.port);
    size_ = sizeof(as_.v4);
  } else if (::inet_pton(AF_INET6, e.address.c_str(), &as_.v6.sin6_addr) == 1) {
    as_.v6.sin6_family = AF_INET6;
    as_.v6.sin6_port = htons(e.port);
    size_ = sizeof(as_.v6);
  } else {
    throw std::invalid_argument("weft: " + e.address + " is no address of IPv4 or IPv6, in digits");
  }
}

endpoint socket_address::to_endpoint() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  bool const is_ipv6 = family() == AF_INET6;
  void const* const from = is_ipv6 ? static_cast<void const*>(&as_.v6.sin6_addr)
                                   : static_cast<void const*>(&as_.v4.sin_addr);
  ::inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, from, text.data(), text.size());
  return {text.data(), ntohs(is_ipv6 ? as_.v6.sin6_port : as_.v4.sin_port)};
}

}  // namespace weft::detail
#endif
