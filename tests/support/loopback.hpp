// SPDX-License-Identifier: MIT
#pragma once

#include <netinet/in.h>

#include <cstdint>

namespace weft::tests {

inline sockaddr_in on_this_machine(std::uint16_t port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(port);
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return a;
}

}  // namespace weft::tests
