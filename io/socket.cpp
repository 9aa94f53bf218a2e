// SPDX-License-Identifier: MIT
#include "weft/io/socket.hpp"

#include <string>
#include <system_error>

namespace weft {

std::string endpoint::text() const {
  bool const is_ipv6 = address.find(':') != std::string::npos;
  return (is_ipv6 ? '[' + address + ']' : address) + ':' + std::to_string(port);
}

io_error::io_error(std::error_code why, std::string const& what)
    : system_error(why, "weft: " + what) {}

}  // namespace weft
